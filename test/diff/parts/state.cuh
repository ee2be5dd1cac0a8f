// What two units share.
extern __device__ int shared_between;
