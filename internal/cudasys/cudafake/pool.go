package cudafake

import (
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// pool is memory that is allocated and freed in stream order. Its sizes are in bytes.
type pool struct {
	context                    *context
	used, reserved             int
	highestUsed, highestReserv int
	threshold                  int // unused memory that it keeps
	unseen                     int // that was freed, but no cuEventSynchronize has followed, so that cuMemPoolTrimTo keeps it
}

func (f *Fake) addPools(d *cudasys.Driver) {
	d.MemPoolCreate = func(out *cudasys.Pool, props *cudasys.PoolProps) cudasys.Status {
		return f.inContext("cuMemPoolCreate", func(c *context) cudasys.Status {
			if f.devices[c.device].NoPools {
				return cudasys.NotSupported
			}
			if props.AllocType != cudasys.PoolPinned || props.LocationType != cudasys.PoolOnDevice || props.LocationID != int32(c.device) {
				return cudasys.InvalidValue
			}
			*out = cudasys.Pool(f.handle())
			f.pools[*out] = &pool{context: c}
			return cudasys.Success
		})
	}
	d.MemPoolDestroy = func(p cudasys.Pool) cudasys.Status {
		return f.onPool("cuMemPoolDestroy", p, func(*pool) cudasys.Status {
			delete(f.pools, p)
			return cudasys.Success
		})
	}
	d.MemPoolTrimTo = func(p cudasys.Pool, keep uintptr) cudasys.Status {
		return f.onPool("cuMemPoolTrimTo", p, func(p *pool) cudasys.Status {
			p.reserved = min(p.reserved, max(p.used+p.unseen, int(keep)))
			return cudasys.Success
		})
	}
	d.MemPoolSetAttribute = func(p cudasys.Pool, a cudasys.PoolAttribute, v *uint64) cudasys.Status {
		return f.onPool("cuMemPoolSetAttribute", p, func(p *pool) cudasys.Status {
			if a != cudasys.PoolReleaseThreshold {
				return cudasys.InvalidValue
			}
			return store(&p.threshold, int(min(*v, 1<<62)))
		})
	}
	d.MemPoolGetAttribute = func(p cudasys.Pool, a cudasys.PoolAttribute, v *uint64) cudasys.Status {
		return f.onPool("cuMemPoolGetAttribute", p, func(p *pool) cudasys.Status {
			figure, ok := map[cudasys.PoolAttribute]int{
				cudasys.PoolReservedCurrent: p.reserved, cudasys.PoolReservedHigh: p.highestReserv,
				cudasys.PoolUsedCurrent: p.used, cudasys.PoolUsedHigh: p.highestUsed,
				cudasys.PoolReleaseThreshold: p.threshold,
			}[a]
			if !ok {
				return cudasys.InvalidValue
			}
			return store(v, uint64(figure))
		})
	}
	f.addPoolMemory(d)
}

func (f *Fake) addPoolMemory(d *cudasys.Driver) {
	d.MemAllocFromPoolAsync = func(out *uintptr, n uintptr, p cudasys.Pool, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemAllocFromPoolAsync", s, func(st *stream) cudasys.Status {
			return f.allocateFrom(f.pools[p], out, int(n))
		})
	}
	d.MemFreeAsync = func(p uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemFreeAsync", s, func(st *stream) cudasys.Status {
			b := f.memory.at(p)
			if b == nil || b.address != p || b.pool == nil || b.freed {
				return cudasys.InvalidValue
			}
			b.freed = true
			st.add(func() cudasys.Status {
				at, _ := f.memory.search(b.address)
				f.memory.spoil(at)
				b.pool.used -= len(b.bytes)
				b.pool.unseen += len(b.bytes)
				b.pool.reserved = min(b.pool.reserved, max(b.pool.used, b.pool.threshold))
				return cudasys.Success
			})
			return cudasys.Success
		})
	}
}

func (f *Fake) allocateFrom(p *pool, out *uintptr, n int) cudasys.Status {
	if p == nil || n == 0 {
		return cudasys.InvalidValue
	}
	if grow := p.used + n - p.reserved; grow > 0 {
		if grow > f.free(p.context) {
			return cudasys.OutOfMemory
		}
		p.reserved += grow
	}
	p.used += n
	p.highestUsed, p.highestReserv = max(p.highestUsed, p.used), max(p.highestReserv, p.reserved)
	b := f.memory.add(p.context, uintptr(n))
	b.pool = p
	return store(out, b.address)
}

// onPool is inContext for functions that take a pool of that context.
func (f *Fake) onPool(function string, p cudasys.Pool, body func(p *pool) cudasys.Status) cudasys.Status {
	return f.inContext(function, func(c *context) cudasys.Status {
		if f.pools[p] == nil || f.pools[p].context != c {
			return cudasys.InvalidHandle
		}
		return body(f.pools[p])
	})
}
