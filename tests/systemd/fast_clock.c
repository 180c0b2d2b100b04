/* Lets a program live faster: preloaded, with FAST_CLOCK="BEGIN SPEED", clocks run SPEED times as fast since BEGIN
   (seconds of the epoch), and waits are as much shorter. All processes with the same value have the same clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double begun, speed = 1;

__attribute__((constructor)) static void read_speed(void) {
    char *rest, *value = getenv("FAST_CLOCK");
    if (value) begun = strtod(value, &rest), speed = strtod(rest, NULL);
}

static double seconds(const struct timespec *t) { return t->tv_sec + t->tv_nsec * 1e-9; }

static struct timespec spec(double s) {
    struct timespec t = {(time_t)s, (long)((s - (time_t)s) * 1e9)};
    return t;
}

static int is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE; }
static int is_fast(clockid_t id) { return is_wall(id) || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME; }
static double from(clockid_t id) { return is_wall(id) ? begun : 0; }
static struct timespec slowed(clockid_t id, const struct timespec *t) { return spec(from(id) + (seconds(t) - from(id)) / speed); }

int clock_gettime(clockid_t id, struct timespec *t) {
    int failed = syscall(SYS_clock_gettime, id, t);
    if (!failed && is_fast(id)) *t = spec(from(id) + (seconds(t) - from(id)) * speed);
    return failed;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec, t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t) *t = now.tv_sec;
    return now.tv_sec;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left) {
    struct timespec wait = flags & TIMER_ABSTIME ? slowed(id, t) : spec(seconds(t) / speed);
    return syscall(SYS_clock_nanosleep, id, flags, &wait, left) ? errno : 0;
}

int nanosleep(const struct timespec *t, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    return error ? (errno = error, -1) : 0;
}

int usleep(useconds_t us) {
    struct timespec t = spec(us * 1e-6);
    return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s) {
    struct timespec t = spec(s);
    nanosleep(&t, NULL);
    return 0;
}

/* A wait of less than a millisecond would be none, and a busy loop. */
static int epoll_ms(int ms) { return ms <= 0 ? ms : ms / speed < 1 ? 1 : (int)(ms / speed); }

int epoll_wait(int fd, struct epoll_event *events, int most, int ms) {
    return syscall(SYS_epoll_pwait, fd, events, most, epoll_ms(ms), NULL, 8);
}

int poll(struct pollfd *fds, nfds_t count, int ms) {
    struct timespec t = spec(ms < 0 ? 0 : ms / 1000.0 / speed);
    return syscall(SYS_ppoll, fds, count, ms < 0 ? NULL : &t, NULL, 8);
}

int select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict x, struct timeval *restrict limit) {
    struct timespec t = spec(limit ? (limit->tv_sec + limit->tv_usec * 1e-6) / speed : 0);
    return syscall(SYS_pselect6, count, r, w, x, limit ? &t : NULL, NULL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int sem_clockwait(sem_t *restrict sem, clockid_t id, const struct timespec *restrict t) {
    struct timespec until = slowed(id, t);
    return REAL(sem_clockwait)(sem, id, &until);
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict t) {
    struct timespec until = slowed(CLOCK_REALTIME, t);
    return REAL(sem_timedwait)(sem, &until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict lock, const struct timespec *restrict t) {
    struct timespec until = slowed(CLOCK_MONOTONIC, t); /* Python's conditions wait by the monotonic clock */
    return REAL(pthread_cond_clockwait)(cond, lock, CLOCK_MONOTONIC, &until);
}
