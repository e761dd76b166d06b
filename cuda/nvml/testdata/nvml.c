// A management library with one GPU whose figures are all different, for TestCompiled. The structs
// are declared independently of the Go code, from the reference, so that a wrong layout on either side is detected.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *dev;
static char gpu;

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { return snprintf(s, n, "580.1") < 0; }
int nvmlSystemGetNVMLVersion(char *s, unsigned n) { return snprintf(s, n, "13.580.1") < 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 13010; return 0; }
int nvmlSystemGetProcessName(unsigned pid, char *s, unsigned n) { return snprintf(s, n, "/bin/p%u", pid) < 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, dev *d) { *d = &gpu; return i != 0; }

#define MINE if (d != &gpu) return 2
int nvmlDeviceGetName(dev d, char *s, unsigned n) { MINE; return snprintf(s, n, "Stub") < 0; }
int nvmlDeviceGetUUID(dev d, char *s, unsigned n) { MINE; return snprintf(s, n, "GPU-1") < 0; }

typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } pci;
int nvmlDeviceGetPciInfo_v3(dev d, pci *p) {
	MINE;
	memset(p, 0, sizeof *p);
	p->domain = 1, p->bus = 0x41, p->device = 2, p->id = 0x233510DE;
	strcpy(p->text, "00000001:41:02.0");
	return 0;
}

typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory;
int nvmlDeviceGetMemoryInfo_v2(dev d, memory *m) {
	MINE;
	if (m->version != (sizeof *m | 2 << 24)) return 25;
	m->total = 100, m->reserved = 1, m->free = 60, m->used = 39;
	return 0;
}

typedef struct { unsigned gpu, memory; } rates;
int nvmlDeviceGetUtilizationRates(dev d, rates *r) { MINE; r->gpu = 71, r->memory = 33; return 0; }
int nvmlDeviceGetPowerUsage(dev d, unsigned *mw) { MINE; *mw = 123456; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(dev d, unsigned long long *mj) { MINE; *mj = 5000000000000ull; return 0; }
int nvmlDeviceGetTemperature(dev d, int sensor, unsigned *c) { MINE; *c = sensor == 0 ? 45 : 0; return 0; }
int nvmlDeviceGetClockInfo(dev d, int kind, unsigned *mhz) { MINE; *mhz = 1000 + kind; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(dev d, unsigned long long *r) { MINE; *r = 0x44; return 0; }
int nvmlDeviceGetEncoderUtilization(dev d, unsigned *u, unsigned *us) { MINE; *u = 7, *us = 9; return 0; }
int nvmlDeviceGetTotalEccErrors(dev d, int type, int counter, unsigned long long *n) { MINE; *n = 10 * type + counter; return 0; }
int nvmlDeviceGetRemappedRows(dev d, unsigned *a, unsigned *b, unsigned *c, unsigned *e) { MINE; *a = 1, *b = 2, *c = 0, *e = 1; return 0; }
int nvmlDeviceGetPcieThroughput(dev d, int counter, unsigned *kib) { MINE; *kib = 10 + counter; return 0; }

typedef struct { unsigned id, scope; long long stamp, latency; int kind, status; union { double d; unsigned u; unsigned long long l; } v; } field;
int nvmlDeviceGetFieldValues(dev d, int n, field *f) {
	MINE;
	for (int i = 0; i < n; i++) {
		f[i].status = f[i].id == 139 ? 3 : 0;
		f[i].kind = f[i].id == 82 ? 1 : 3;
		if (f[i].id == 82) f[i].v.u = 52; else f[i].v.l = f[i].scope == ~0u ? 1ull << 40 : 0;
	}
	return 0;
}

typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } process;
int nvmlDeviceGetComputeRunningProcesses_v3(dev d, unsigned *n, process *p) {
	MINE;
	if (*n < 100) { *n = 100; return 7; } // the buffer is too small
	*n = 2;
	p[0] = (process){10, 1 << 20, 3, ~0u}, p[1] = (process){11, ~0ull, ~0u, ~0u};
	return 0;
}

typedef struct { unsigned pid; unsigned long long us; unsigned sm, memory, encoder, decoder; } sample;
int nvmlDeviceGetProcessUtilization(dev d, sample *s, unsigned *n, unsigned long long since) {
	MINE;
	if (*n < 2 || since != 5000000) return 2;
	*n = 2;
	s[0] = (sample){10, 6000000, 50, 20, 3, 4}, s[1] = (sample){10, 5500000, 9, 9, 9, 9};
	return 0;
}

typedef struct { dev d; unsigned long long kind, data; unsigned instance, compute; } event;
int nvmlEventSetCreate(dev *set) { *set = &gpu; return 0; }
int nvmlDeviceRegisterEvents(dev d, unsigned long long kinds, dev set) { MINE; return kinds == 8 && set == &gpu ? 0 : 2; }
static int waited;
int nvmlEventSetWait_v2(dev set, event *e, unsigned ms) {
	if (waited++ == 0 || ms == 0) return 10; // nothing happened
	*e = (event){&gpu, 8, 79, ~0u, ~0u};
	return 0;
}
int nvmlEventSetFree(dev set) { return set != &gpu; }

typedef struct { unsigned version, supported; } support;
int nvmlGpmQueryDeviceSupport(dev d, support *s) { MINE; if (s->version != 1) return 25; s->supported = 1; return 0; }
static char counts[2];
static int taken;
int nvmlGpmSampleAlloc(void **s) { *s = &counts[taken++ & 1]; return 0; }
int nvmlGpmSampleFree(void *s) { return s < (void *)counts; }
int nvmlGpmSampleGet(dev d, void *s) { MINE; return s < (void *)counts; }

typedef struct { unsigned id; int status; double value; struct { char *a, *b, *c; } names; } metric;
typedef struct { unsigned version, n; void *first, *second; metric m[98]; } metrics;
int nvmlGpmMetricsGet(metrics *g) {
	if (g->version != 1) return 25;
	if (g->first != &counts[0] || g->second != &counts[1]) return 2;
	for (unsigned i = 0; i < g->n; i++) {
		g->m[i].status = g->m[i].id == 13 ? 3 : 0;
		g->m[i].value = 100 + g->m[i].id;
	}
	return 0;
}
