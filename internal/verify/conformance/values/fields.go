package values

import (
	_ "embed"
	"errors"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed fields.go
var fieldsText string

// masses is a slice with methods; heavier has the same underlying type through another name.
type (
	masses  []float32
	heavier masses
)

func (w masses) of(i int, otherwise float32) float32 {
	if w == nil {
		return otherwise
	}
	return w[i]
}

// particles is a struct of arrays.
type particles struct {
	X, Y   []float32
	Mass   masses
	Live   bool
	Limits [2]float32
	Cells  cells
	Tags   [][2]uint8
}

type cells struct {
	Of    []int32
	Width int32
}

// energy returns a number that depends on all fields.
func (p particles) energy(i int) float32 {
	return p.X[i]*p.X[i] + p.Y[i]*p.Mass.of(i, 2) + float32(p.Tags[i][1])
}

// advance changes the fields of from by way of to, which may share memory with from.
//
//gpu:kernel
func advance(t gpu.Thread, dt float32, to, from particles, extra heavier) {
	i := t.GlobalX()
	if i >= len(to.X) {
		return
	}
	at := &to
	at.X[i] = min(from.X[i]+dt*from.Y[i], from.Limits[1])
	at.Y[i] += from.energy(i) + extra[i%len(extra)]
	if from.Live {
		to.Cells.Of[i] = int32(at.X[i])/from.Cells.Width + int32(len(from.Cells.Of))
	}
	total := float32(0)
	for k, m := range from.Mass {
		total += m * from.X[k]
	}
	at.Limits[0] = total
	at.Tags[i] = [2]uint8{from.Tags[i][1], uint8(int32(at.Limits[0]))}
}

// reach reads beyond the end of one field only.
//
//gpu:kernel
func reach(t gpu.Thread, p particles, out []float32) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = p.X[i] + p.Y[i] // reach
	}
}

// host is a particles in the memory of the host.
func host(n int, seed float32) particles {
	p := particles{Live: true, Limits: [2]float32{0, 50}, Cells: cells{make([]int32, n), 3}}
	for i := range n {
		p.X = append(p.X, seed+float32(i))
		p.Y = append(p.Y, float32(i%5)/2)
		p.Mass = append(p.Mass, float32(i%3))
		p.Tags = append(p.Tags, [2]uint8{uint8(i), uint8(3 * i)})
	}
	return p
}

func upload(r *check.Run, p particles) particlesArg {
	mass := device.None[float32]()
	if p.Mass != nil {
		mass = check.Upload(r, p.Mass...)
	}
	return particlesArg{
		X: check.Upload(r, p.X...), Y: check.Upload(r, p.Y...), Mass: mass, Live: p.Live, Limits: p.Limits,
		Cells: cellsArg{check.Upload(r, p.Cells.Of...), p.Cells.Width}, Tags: check.Upload(r, p.Tags...),
	}
}

// advanced runs advance with structs that share no memory, with a field that is nil, and with fields that share memory.
func advanced(r *check.Run) {
	const n = 70
	for _, heavy := range []bool{true, false} {
		to, from, extra := host(n, 1), host(n, 2), heavier{1, 2, 3}
		if !heavy {
			from.Mass = nil
		}
		dst, src := upload(r, to), upload(r, from)
		r.Launch(Advance(r.Stream, device.Cover(n, 32), 0.5, dst, src, check.Upload[float32](r, extra...)))
		for i := range n {
			arguments{0.5, to, from, extra}.step(i)
		}
		wantParticles(r, dst, to)
		wantParticles(r, src, from)
	}
	p := host(n, 3)
	p.Mass = nil
	d := upload(r, p)
	d.X, p.X = d.Y, p.Y
	r.Launch(Advance(r.Stream, device.Cover(n, 32), 0, d, d, check.Upload[float32](r, 1)))
	for i := range n {
		arguments{0, p, p, heavier{1}}.step(i)
	}
	check.Want(r, d.Y, p.Y...)
}

// arguments are those of advance.
type arguments struct {
	dt       float32
	to, from particles
	extra    heavier
}

// step is a thread of advance. Without a time step, threads of advance do not read what others write.
func (a arguments) step(i int) {
	to, from := a.to, a.from
	x := min(from.X[i]+a.dt*from.Y[i], from.Limits[1])
	to.X[i] = x
	to.Y[i] += from.energy(i) + a.extra[i%len(a.extra)]
	to.Cells.Of[i] = int32(to.X[i])/from.Cells.Width + int32(len(from.Cells.Of))
	total := float32(0)
	for k, m := range from.Mass {
		total += m * from.X[k]
	}
	to.Tags[i] = [2]uint8{from.Tags[i][1], uint8(int32(total))}
}

func wantParticles(r *check.Run, got particlesArg, want particles) {
	check.Want(r, got.X, want.X...)
	check.Want(r, got.Y, want.Y...)
	check.Want(r, got.Cells.Of, want.Cells.Of...)
	check.Want(r, got.Tags, want.Tags...)
}

// reached passes a field that is too short, and one that has no memory.
func reached(r *check.Run) {
	p := upload(r, host(3, 0))
	p.Y = p.Y.Slice(0, 0)
	r.Launch(Reach(r.Stream, check.Threads(1), p, check.Make[float32](r, 1)))
	r.Fault(device.Fault{
		Kernel: "reach", File: "fields.go", Line: check.Line(fieldsText, "reach"), Message: "index out of range [0] with length 0",
	})
	p.Cells.Of = device.Slice[int32]{}
	err := Reach(r.Stream, check.Threads(1), p, check.Make[float32](r, 1))
	if !errors.Is(err, device.ErrNilBuffer) || !strings.Contains(err.Error(), "p.Cells.Of") {
		r.Wrong("got the error %v, want ErrNilBuffer for p.Cells.Of", err)
	}
	if again := r.Stream.Synchronize(r.Context); !errors.Is(again, device.ErrNilBuffer) {
		r.Wrong("Synchronize returned %v, want the launcher's error", again)
	}
}
