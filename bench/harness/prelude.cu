// What the twins of all suites share. The harness compiles it before a suite's twins.
//
// A kernel takes the parameter block of the Go kernel: one struct by value, with the layout of the Go struct
// of its parameters, in which an int is a long long and a slice a Slice, followed by Hidden.

template <class T> struct Slice { T* p; long long len, cap; };

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Hidden has the runtime's parameters, which follow the kernel's; twins do not use it.
struct Hidden { u64 env; u32 launch, kernel; };

#define KERNEL extern "C" __global__ void
// The second number, if any, is how many blocks are to share a multiprocessor.
#define KERNEL_OF(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)

__device__ int globalX() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int globalY() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ int globalZ() { return blockIdx.z * blockDim.z + threadIdx.z; }
