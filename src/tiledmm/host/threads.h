/* src/tiledmm/host/threads.h. Helper threads that copy between pageable memory and the pinned ring.
   Uses: job.h, once/config.h. Used by: devices.h, transfer.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__ONCE)
static inline void tmm__copy_chunk(tmm__chunk *c)
{
    size_t pitch = c->transfer->host_pitch;
    for (size_t row = 0; row < c->rows; row++) {
        if (c->state == TMM__COPYING_IN)
            memcpy(c->memory + row * c->width, c->host + row * pitch, c->width);
        else
            memcpy(c->host + row * pitch, c->memory + row * c->width, c->width);
    }
}

#if TMM__THREADS
static inline void *tmm__helper_work(void *argument)
{
    tmm__helpers *helpers = (tmm__helpers *)argument;
    pthread_mutex_lock(&helpers->lock);
    for (;;) {
        /* Waking up takes as long as copying half a chunk: poll for a while before sleeping. */
        if (helpers->waiting == 0 && !helpers->quit) {
            pthread_mutex_unlock(&helpers->lock);
            for (int n = 0; n < 1000 && __atomic_load_n(&helpers->waiting, __ATOMIC_RELAXED) == 0;
                 n++)
                sched_yield();
            pthread_mutex_lock(&helpers->lock);
        }
        while (helpers->waiting == 0 && !helpers->quit)
            pthread_cond_wait(&helpers->wake, &helpers->lock);
        if (helpers->quit) break;
        tmm__chunk *chunk = helpers->queue[helpers->first];
        helpers->first = (helpers->first + 1) % (2 * TMM__MAX_THREADS);
        __atomic_store_n(&helpers->waiting, helpers->waiting - 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&helpers->lock);
        tmm__copy_chunk(chunk);
        __atomic_store_n(&chunk->copied, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&helpers->lock);
    }
    pthread_mutex_unlock(&helpers->lock);
    return NULL;
}
#endif

/* With none, the calling thread copies. */
static inline void tmm__helpers_start(tmm__helpers *helpers, int threads)
{
    helpers->threads = 0;
#if TMM__THREADS
    if (pthread_mutex_init(&helpers->lock, NULL) != 0) return;
    if (pthread_cond_init(&helpers->wake, NULL) != 0) {
        pthread_mutex_destroy(&helpers->lock);
        return;
    }
    while (helpers->threads < threads &&
           pthread_create(&helpers->thread[helpers->threads], NULL, tmm__helper_work, helpers) == 0)
        helpers->threads++;
    if (helpers->threads == 0) {
        pthread_cond_destroy(&helpers->wake);
        pthread_mutex_destroy(&helpers->lock);
    }
#else
    (void)threads;
#endif
}

static inline void tmm__helpers_stop(tmm__helpers *helpers)
{
    if (helpers->threads == 0) return;
#if TMM__THREADS
    pthread_mutex_lock(&helpers->lock);
    helpers->quit = 1;
    pthread_cond_broadcast(&helpers->wake);
    pthread_mutex_unlock(&helpers->lock);
    for (int n = 0; n < helpers->threads; n++) pthread_join(helpers->thread[n], NULL);
    pthread_cond_destroy(&helpers->wake);
    pthread_mutex_destroy(&helpers->lock);
#endif
    helpers->threads = 0;
}

/* tmm__chunk_copied says when the helper has copied it. */
static inline void tmm__helpers_copy(tmm__helpers *helpers, tmm__chunk *chunk)
{
    chunk->copied = 0;
    if (helpers->threads == 0) {
        tmm__copy_chunk(chunk);
        chunk->copied = 1;
        return;
    }
#if TMM__THREADS
    pthread_mutex_lock(&helpers->lock);
    helpers->queue[(helpers->first + helpers->waiting) % (2 * TMM__MAX_THREADS)] = chunk;
    __atomic_store_n(&helpers->waiting, helpers->waiting + 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&helpers->wake);
    pthread_mutex_unlock(&helpers->lock);
#endif
}

static inline int tmm__chunk_copied(const tmm__chunk *chunk)
{
#if TMM__THREADS
    return __atomic_load_n(&chunk->copied, __ATOMIC_ACQUIRE);
#else
    return chunk->copied;
#endif
}

/* How many helpers to start; 0: one for each processor. */
static inline int tmm__helpers_count(int threads)
{
    long processors = 1;
    if (threads > 0) return threads;
#if TMM__THREADS && defined(_SC_NPROCESSORS_ONLN)
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    if (processors > TMM__MAX_THREADS) processors = TMM__MAX_THREADS;
    return processors < 1 ? 1 : (int)processors;
}
#endif
