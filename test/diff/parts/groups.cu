// Cooperative groups: grids, clusters, tiles.
#define _CG_LIMIT_INCLUDED_DEPENDENCIES // else libcudacxx is included, which takes the compiler seconds
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
static __device__ int arrived;
__global__ void whole(int *p) { auto g = cg::this_grid(); p[g.thread_rank()] = arrived; g.sync(); atomicAdd(&arrived, 1); }
__global__ void tiles(int *p) { auto t = cg::tiled_partition<8>(cg::this_thread_block()); p[t.meta_group_rank()] = cg::reduce(t, p[t.thread_rank()], cg::plus<int>()); }
__global__ void blocks(int *p) { __shared__ int s[64]; auto b = cg::this_thread_block(); s[b.thread_rank()] = p[0]; b.sync(); p[1] = s[63 - b.thread_rank()]; }
#if __CUDA_ARCH__ >= 900 || !defined __CUDA_ARCH__
__global__ void __cluster_dims__(2) clusters(int *p) { __shared__ int s[4]; auto c = cg::this_cluster(); s[0] = p[c.block_rank()]; c.sync(); p[1] = *c.map_shared_rank(s, 1); c.sync(); }
#endif
void host() { whole<<<1, 1>>>(0), tiles<<<1, 1>>>(0), blocks<<<1, 1>>>(0), clusters<<<1, 1>>>(0); }
