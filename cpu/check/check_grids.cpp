/* The blocks of launches for the page of a run: in which order they ran, and which of them found what. Of the
 * launches of a kernel at one line the first with a fault is kept, or the first. */
#include "check_page.h"

namespace cucc
{
enum { most_blocks = 1 << 22 }; /* of a launch whose blocks are kept apart */

static std::mutex &grid_lock()
{
    static auto *lock = new std::mutex;
    return *lock;
}
static std::map<std::string, kernel_grid> &kept()
{
    static auto *all = new std::map<std::string, kernel_grid>;
    return *all;
}
static std::set<kernel_grid *> &running()
{
    static auto *all = new std::set<kernel_grid *>;
    return *all;
}

void grid_begins(launch_state &launch)
{
    if (!run_page) return;
    std::lock_guard<std::mutex> lock(grid_lock());
    kernel_grid *g = launch.check->grid = new kernel_grid;
    g->kernel = name_of(launch);
    g->grid = launch.request.grid;
    g->block = launch.request.block;
    g->cluster = launch.cluster;
    g->cooperative = launch.request.cooperative;
    if (launch.blocks <= most_blocks) g->order.assign(launch.blocks, 0);
    running().insert(g);
}

void grid_block(const worker &w)
{
    kernel_grid *g = w.launch->check->grid;
    if (!g) return;
    std::lock_guard<std::mutex> lock(grid_lock());
    g->begun++;
    if (!g->order.empty()) g->order[w.check->block] = (uint32_t)g->begun;
}

/* The block that runs has come to the finding. */
void grid_fault(uint64_t finding)
{
    if (!self || !self->check || !self->launch->check) return;
    kernel_grid *g = self->launch->check->grid;
    if (!g) return;
    std::lock_guard<std::mutex> lock(grid_lock());
    std::vector<bool> &blocks = g->faults[finding];
    if (g->order.empty()) return;
    blocks.resize(g->order.size());
    blocks[self->check->block] = true;
}

static void keep(std::map<std::string, kernel_grid> &all, const kernel_grid &g)
{
    kernel_grid &k = all[g.kernel];
    uint64_t launches = k.launches + 1, faulty = k.faulty + !g.faults.empty();
    if (launches == 1 || (faulty == 1 && !g.faults.empty())) {
        k = g;
        k.drawn = launches;
    }
    k.launches = launches;
    k.faulty = faulty;
}

void grid_ends(launch_state &launch)
{
    kernel_grid *g = launch.check->grid;
    if (!g) return;
    std::lock_guard<std::mutex> lock(grid_lock());
    keep(kept(), *g);
    running().erase(g);
    delete g;
}

/* Those with faults first, by kernels and lines; a launch that has not ended is among them. */
std::vector<kernel_grid> grids_for_page()
{
    std::map<std::string, kernel_grid> all;
    {
        std::lock_guard<std::mutex> lock(grid_lock());
        all = kept();
        for (kernel_grid *g : running()) keep(all, *g);
    }
    std::map<std::string, kernel_grid, natural_order> by_name;
    for (auto &g : all) {
        std::string name = resolved(g.first);
        kernel_grid &k = by_name[name];
        uint64_t launches = k.launches, faulty = k.faulty;
        if (!launches || (k.faults.empty() && !g.second.faults.empty())) k = g.second;
        k.kernel = name;
        k.launches = launches + g.second.launches;
        k.faulty = faulty + g.second.faulty;
    }
    std::vector<kernel_grid> list;
    for (auto &g : by_name) list.push_back(g.second);
    std::stable_partition(list.begin(), list.end(),
                          [](const kernel_grid &g) { return g.faulty > 0; });
    return list;
}
} // namespace cucc
