/* src/tiledmm/kernels/direct/launch.h. PLAN and LAUNCHER of KERNEL DIRECT.
   Uses: kernel.cuh, sizes.h, launch/, once/. Used by: once/kernels.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
/* Lines of L1 that a load of a warp touches: `along` places in one direction, `step` elements from
   each other, for each of `across` in the other. Where places share lines in one direction, those
   in the other are taken to lie apart. */
static inline double tmm__xdirect_lines(double along, long long along_step, double across,
                                        long long across_step)
{
    const double line = 128.0 / sizeof(TMM_TYPE);
    const double along_lines = fmax(1, along * fmin(1, (double)along_step / line));
    const double across_lines = fmax(1, across * fmin(1, (double)across_step / line));
    return fmin(across * along_lines, along * across_lines);
}

/* Bytes that come from L2 for each k of a block with so many groups; at least a sector of 32. */
static inline double tmm__xdirect_bytes(double groups, const tmm__xproduct *p)
{
    const double size = sizeof(TMM_TYPE), sector = 32;
    const double cols = fmin(groups, (double)p->N), rows = fmax(1, groups / (double)p->N);
    const int along_B = p->rsB == 1 && p->csB != 1;
    return fmax(rows * size, p->csA == 1 ? 0 : sector) + fmax(cols * size, along_B ? 0 : sector);
}

/* Bytes of a line of the larger operand that a block with so many groups reads, where lines lie
   across k; HUGE_VAL where they lie along k. */
static inline double tmm__xdirect_piece(double groups, const tmm__xproduct *p)
{
    const double size = sizeof(TMM_TYPE), cols = fmin(groups, (double)p->N);
    if (p->M > p->N) return p->csA == 1 && p->rsA != 1 ? HUGE_VAL : fmax(1, groups / cols) * size;
    return p->rsB == 1 && p->csB != 1 ? HUGE_VAL : cols * size;
}

/* Nanoseconds with groups of 2^team_log2 threads in each block. `load`: of the product, with a
   block for each element. */
static inline double tmm__xdirect_guess(tmm__plan *c, const tmm__xproduct *p, const tmm__load *load)
{
    const tmm__direct_costs *t = &tmm__tuned()->direct[TMM__TUNED_AS];
    const double group = 1 << c->team_log2, K = (double)p->K, cluster = 1 << c->cluster_log2;
    const double member_k = ceil(K / (group * cluster));
    c->threads = 1 << (c->team_log2 > TMM__DIRECT_BLOCK ? c->team_log2 : (int)TMM__DIRECT_BLOCK);
    const double threads = c->threads;
    const double blocks = ceil((double)p->M * p->N * group / threads) * cluster;
    c->blocks = (long long)blocks;
    /* What a warp has: members of a group, groups in `rows` rows and `cols` columns of C. */
    const int members = c->layout == TMM__MEMBERS;
    const double groups = members ? 32 / fmin(group, 32) : fmin(threads / group, 32);
    const double member = 32 / groups, cols = fmin(groups, (double)p->N), rows = groups / cols;
    const double lines = tmm__xdirect_lines(member, p->csA, rows, p->rsA) +
                         tmm__xdirect_lines(member, p->rsB, cols, p->csB);
    const double warps = ceil(blocks * p->batch / load->processors) * threads / 32;
    const double bytes = tmm__xdirect_bytes(threads / group, p);
    double clocks = t->first + t->halving * log2(member);
    clocks += t->round * (ceil(K / (group * cluster * (int)TMM__DIRECT_DEEP)) - 1);
    if (group > member) clocks += t->barrier * (1 + log2(group / member));
    if (cluster > 1) clocks += t->cluster;
    /* Blocks that find no room wait for that long, once more. */
    const double resident = sizeof(TMM_TYPE) > 4 ? TMM__DIRECT_RESIDENT_8 : TMM__DIRECT_RESIDENT;
    const double room = load->processors * floor(resident / threads);
    if (p->batch == 1) clocks *= ceil(blocks / room);
    clocks += warps * (t->warp + member_k * (t->load + t->line * lines));
    clocks += t->byte * bytes * K / cluster * warps / (threads / 32);
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, load->family, load->type);
    clocks = fmax(clocks, load->blocks * K / (rate * load->processors));
#if TMM__HALF_TENSOR
    clocks *= tmm__tuned()->half_thin.direct;
#endif
    /* Groups that share a row of A have fewer bytes of it under way. */
    double memory = tmm__memory_time(load) * (1 + t->share * (p->M > p->N ? cols - 1 : 0));
    if (load->bytes > device->gpu.l2_bytes)
        memory *= t->memory * (1 + pow(t->piece / tmm__xdirect_piece(threads / group, p), 1.5));
    return device->gpu.launch + tmm__overlapped(tmm__in_nanoseconds(clocks), memory);
}

/* The group that should be fastest. In a batch it is one thread, so that all products have the
   same bits, whatever their number. */
static inline void tmm__xdirect_plan(const tmm__xproduct *p, const tmm__xkernel *row,
                                     tmm__plan *best)
{
    tmm__plan c = *best;
    const int cut = (p->allowed & TMM__CUT_K) != 0;
    (void)row;
    c.kernel = (const void *)tmm__xgemm_direct, c.tile_m = c.tile_n = 1;
    const int clusters = cut && p->K > TMM__DIRECT_CLUSTER_K && sizeof(TMM_SUM) % 4 == 0 &&
                         tmm__has_clusters(c.kernel);
    tmm__load load = tmm__xload(p, TMM__COST_SIMPLE, 1, 1);
    /* Each row of C reads all of B, from memory if L2 cannot hold it. */
    const double B = load.bytes - load.a_bytes;
    if (B > tmm__current_device()->gpu.l2_bytes) load.bytes += (double)(p->M - 1) * B;
    best->time = HUGE_VAL;
    for (int layout = TMM__MEMBERS; layout <= TMM__GROUPS; layout++) {
        for (int n = layout == TMM__GROUPS;
             n == 0 || (cut && 1 << n <= TMM__DIRECT_MOST && 1 << n < p->K); n++) {
            c.instance = c.layout = layout, c.team_log2 = n, c.cluster_log2 = 0;
            c.cut = TMM__PLAN_WHOLE, c.slices = 1 << n;
            c.time = tmm__xdirect_guess(&c, p, &load);
            c.time = TMM__PLAN_GUESS(layout, TMM__PLAN_WHOLE, 1 << n, c.time);
            if (c.time < best->time) *best = c;
            c.cluster_log2 = TMM__DIRECT_CLUSTER, c.cut = TMM__PLAN_CLUSTERS;
            if (!clusters || n > TMM__DIRECT_BLOCK ||
                1 << (TMM__DIRECT_BLOCK - n) > TMM__DIRECT_GROUPS ||
                (layout == TMM__MEMBERS && n <= 5) || p->K >> (n + c.cluster_log2) == 0)
                continue;
            c.time = tmm__xdirect_guess(&c, p, &load);
            c.time = TMM__PLAN_GUESS(layout, TMM__PLAN_CLUSTERS, 1 << n, c.time);
            if (c.time < best->time && c.blocks <= INT_MAX) *best = c;
        }
    }
}

static inline int tmm__xdirect_competes(const tmm__xproduct *p, const tmm__xkernel *row)
{
    const double work = (double)p->M * p->N * p->K * p->batch;
    (void)row;
    return p->K <= INT_MAX && work <= tmm__direct_most(p->M, p->N);
}

static inline tmm_status tmm__xdirect(const tmm__xproduct *given, const tmm__plan *plan)
{
    tmm__xproduct p = *given;
    tmm__plan c = *plan;
    void *arguments[26];
    int block_log2 = c.team_log2 > TMM__DIRECT_BLOCK ? c.team_log2 : (int)TMM__DIRECT_BLOCK;
    int count = tmm__xarguments(&p, arguments);
    arguments[count++] = &block_log2, arguments[count++] = &c.team_log2;
    arguments[count++] = &c.layout, arguments[count++] = &c.cluster_log2;
    /* x / N is (x + x magic / 2^32) / 2^magic_log2 for x below 2^31. */
    int magic_log2 = 0;
    while (1ll << magic_log2 < p.N) magic_log2++;
    const unsigned long long N = (unsigned long long)p.N;
    unsigned magic = (unsigned)((((1ull << magic_log2) - N) << 32) / N) + 1;
    /* Which members add their sums by shuffles, and how far apart the others are: see there. */
    const int groups_log2 = block_log2 - c.team_log2, members = c.layout == TMM__MEMBERS;
    int beside = members ? 1 : 1 << groups_log2;
    int lanes = members && c.team_log2 < 5 ? 1 << c.team_log2 : 32;
    int apart_log2 = members || groups_log2 < 5 ? 5 : groups_log2;
    int warps_log2 = (members ? c.team_log2 : block_log2) - apart_log2;
    arguments[count++] = &magic, arguments[count++] = &magic_log2;
    arguments[count++] = &beside, arguments[count++] = &lanes;
    arguments[count++] = &apart_log2, arguments[count++] = &warps_log2;
    return tmm__launch_clusters(c.kernel, dim3((unsigned)c.blocks, 1, p.batch), c.threads,
                                1 << c.cluster_log2, 0, 0, arguments, p.stream);
}
#endif
