/* src/tiledmm/host/threads.h. Helper threads that copy between pageable memory and the pinned ring.
   Uses: host/job.h. Used by: host/transfer.h, host/devices.h. */
#if TMM__HOST && TMM__HOST_LAYER && !defined(TMM__PART_HOST_THREADS)
#define TMM__PART_HOST_THREADS
/* ---- helper threads -------------------------------------------------------------------------- */
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
static inline void *tmm__crew_work(void *argument)
{
    tmm__crew *crew = (tmm__crew *)argument;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        /* To be woken takes as long as to copy half a chunk: look for a while before sleeping. */
        if (crew->waiting == 0 && !crew->quit) {
            pthread_mutex_unlock(&crew->lock);
            for (int n = 0; n < 1000 && __atomic_load_n(&crew->waiting, __ATOMIC_RELAXED) == 0; n++)
                sched_yield();
            pthread_mutex_lock(&crew->lock);
        }
        while (crew->waiting == 0 && !crew->quit) pthread_cond_wait(&crew->wake, &crew->lock);
        if (crew->quit) break;
        tmm__chunk *chunk = crew->queue[crew->first];
        crew->first = (crew->first + 1) % (2 * TMM__MOST_THREADS);
        __atomic_store_n(&crew->waiting, crew->waiting - 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&crew->lock);
        tmm__copy_chunk(chunk);
        __atomic_store_n(&chunk->copied, 1, __ATOMIC_RELEASE);
        pthread_mutex_lock(&crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}
#endif

/* Starts at most `threads` helpers; with none, whoever asks for a copy makes it. */
static inline void tmm__crew_start(tmm__crew *crew, int threads)
{
    crew->threads = 0;
#if TMM__THREADS
    if (pthread_mutex_init(&crew->lock, NULL) != 0) return;
    if (pthread_cond_init(&crew->wake, NULL) != 0) {
        pthread_mutex_destroy(&crew->lock);
        return;
    }
    while (crew->threads < threads &&
           pthread_create(&crew->thread[crew->threads], NULL, tmm__crew_work, crew) == 0)
        crew->threads++;
    if (crew->threads == 0) {
        pthread_cond_destroy(&crew->wake);
        pthread_mutex_destroy(&crew->lock);
    }
#else
    (void)threads;
#endif
}

static inline void tmm__crew_stop(tmm__crew *crew)
{
    if (crew->threads == 0) return;
#if TMM__THREADS
    pthread_mutex_lock(&crew->lock);
    crew->quit = 1;
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
    for (int n = 0; n < crew->threads; n++) pthread_join(crew->thread[n], NULL);
    pthread_cond_destroy(&crew->wake);
    pthread_mutex_destroy(&crew->lock);
#endif
    crew->threads = 0;
}

static inline void tmm__crew_ask(tmm__crew *crew, tmm__chunk *chunk)
{
    chunk->copied = 0;
    if (crew->threads == 0) {
        tmm__copy_chunk(chunk);
        chunk->copied = 1;
        return;
    }
#if TMM__THREADS
    pthread_mutex_lock(&crew->lock);
    crew->queue[(crew->first + crew->waiting) % (2 * TMM__MOST_THREADS)] = chunk;
    __atomic_store_n(&crew->waiting, crew->waiting + 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
#endif
}

static inline int tmm__crew_copied(const tmm__chunk *chunk)
{
#if TMM__THREADS
    return __atomic_load_n(&chunk->copied, __ATOMIC_ACQUIRE);
#else
    return chunk->copied;
#endif
}

/* How many helpers are worth having. */
static inline int tmm__crew_size(int asked)
{
    long processors = 1;
    if (asked > 0) return asked < TMM__MOST_THREADS ? asked : (int)TMM__MOST_THREADS;
#if TMM__THREADS && defined(_SC_NPROCESSORS_ONLN)
    processors = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    if (processors > TMM__MOST_THREADS) processors = TMM__MOST_THREADS;
    return processors < 1 ? 1 : (int)processors;
}
#endif
