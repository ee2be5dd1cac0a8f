#pragma once
#pragma omp begin declare target
struct shape {
    virtual double area() const = 0;
    virtual int corners() const { return 0; }
};
struct square : shape {
    double side;
    explicit square(double side) : side(side) {}
    double area() const override;
    int corners() const override;
};
struct circle : shape {
    double radius;
    explicit circle(double radius) : radius(radius) {}
    double area() const override;
};
template <class T, int N> __attribute__((noinline)) T turned(T x)
{
    for (int i = 0; i < N; i++)
        x = x * x % 1009 + i;
    return x;
}
#pragma omp end declare target
