// C++ in target regions: templates of several files, classes with virtual functions, lambdas, mathematics.
#include "shapes.h"

#include <cmath>
#include <cstdio>
#include <omp.h>
#include <vector>

static int failures;

template <class T> static T total(const std::vector<T> &values, T (*convert)(T))
{
    T sum = 0;
    const T *data = values.data();
    int size = int(values.size());
    (void)convert;

#pragma omp target teams distribute parallel for map(to : data[0 : size]) reduction(+ : sum)
    for (int i = 0; i < size; i++)
        sum += turned<T, 3>(data[i]);
    return sum;
}

template <class T> static void check(const char *what, T got, T wanted, double tolerance)
{
    printf("%s: %.6g\n", what, double(got));
    if (std::fabs(double(got) - double(wanted)) > tolerance * (1 + std::fabs(double(wanted)))) {
        printf("%s: not %.9g\n", what, double(wanted));
        failures++;
    }
}

int main()
{
    bool on_host = true;
    std::vector<int> numbers(1000);
    std::vector<double> reals(1000), results(1000);
    double areas = 0, *out = results.data(), *in = reals.data(), host_areas = 0;
    int sum = 0;

#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    printf("on the %s\n", on_host ? "host" : "device");
    for (int i = 0; i < 1000; i++) {
        numbers[i] = i % 17;
        reals[i] = i * 0.01;
        sum += turned<int, 3>(numbers[i]);
    }
    check("turned", total<int>(numbers, nullptr), sum, 0);
#pragma omp target teams distribute parallel for reduction(+ : areas)
    for (int i = 0; i < 300; i++) {
        square a(i % 5);
        circle b(i % 3);
        const shape *one = i % 2 ? static_cast<const shape *>(&a) : &b;

        areas += one->area() + one->corners();
    }
    for (int i = 0; i < 300; i++) {
        square a(i % 5);
        circle b(i % 3);
        const shape *one = i % 2 ? static_cast<const shape *>(&a) : &b;

        host_areas += one->area() + one->corners();
    }
    check("areas", areas, host_areas, 1e-12);
    auto curve = [](double x) { return std::sin(x) * std::exp(-x / 5) + std::pow(x + 1, 1.5) / std::sqrt(x + 2); };
#pragma omp target teams distribute parallel for map(to : in[0 : 1000]) map(from : out[0 : 1000])
    for (int i = 0; i < 1000; i++)
        out[i] = curve(in[i]);
    for (int i = 0; i < 1000; i += 111)
        check("curve", out[i], curve(in[i]), 1e-12);
    printf("%d failures\n", failures);
    return failures != 0;
}
