package curand

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library/librarytest"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// fake is the state of a fake library, apart from the numbers that it generates.
type fake struct {
	kind, seed, offset, dimensions uintptr
	seeded                         bool
	generators                     int // that exist
	stream                         uintptr
}

// manage does the work of the functions that generate nothing.
func (f *fake) manage(number int, args []uintptr) bool {
	switch function(number) {
	case create:
		f.generators++
		f.kind = args[1]
		**(**uintptr)(unsafe.Pointer(&args[0])) = 77
	case destroy:
		f.generators--
	case setStream:
		f.stream = args[1]
	case setSeed:
		f.seed = args[1]
	case setOffset:
		f.offset = args[1]
	case setDimensions:
		f.dimensions = args[1]
	case generateSeeds:
		f.seeded = true
	case getVersion:
		**(**int32)(unsafe.Pointer(&args[0])) = 10309
	default:
		return false
	}
	return true
}

// bench is a stream of a fake device and a fake library.
type bench struct {
	*librarytest.Bench
	fake    *fake
	library toolkit.Loaded
}

func benchOf(b *librarytest.Bench) *bench {
	f := new(fake)
	return &bench{b, f, known.With("libcurand.so.10", b.Calls(f.manage))}
}

func (b *bench) generator(o Options) *Generator {
	b.Helper()
	g, err := newGenerator(b.library, b.Stream, o)
	b.Check(err)
	return g
}

// close closes everything, and checks that nothing is left.
func (b *bench) close(g *Generator) {
	b.Helper()
	b.Check(g.Close())
	b.Close()
	if b.fake.generators != 0 {
		b.Errorf("%d generators are left", b.fake.generators)
	}
}

func TestGenerate(t *testing.T) {
	b := benchOf(librarytest.New(t, int32(InternalError)))
	g := b.generator(Options{Kind: Philox, Seed: 42, Offset: 7})
	defer b.close(g)
	if f := b.fake; f.kind != 161 || f.seed != 42 || f.offset != 7 || f.dimensions != 0 || !f.seeded || f.stream == 0 {
		t.Errorf("the generator is %+v", f)
	}
	singles, s := librarytest.Array[float32](b.Bench, 10)
	doubles, d := librarytest.Array[float64](b.Bench, 20)
	ints, i := librarytest.Array[uint32](b.Bench, 30)
	longs, l := librarytest.Array[uint64](b.Bench, 40)
	single := func(v float32) uintptr { return uintptr(math.Float32bits(v)) }
	double := func(v float64) uintptr { return uintptr(math.Float64bits(v)) }
	wants := func(err error, f function, args ...uintptr) {
		t.Helper()
		b.Wants(err, int(f), append([]uintptr{77}, args...)...)
	}
	wants(Uniform(g, singles), uniform, s, 10)
	wants(Uniform(g, doubles), uniform+1, d, 20)
	wants(Normal(g, singles, 1, 2.5), normal, s, 10, single(1), single(2.5))
	wants(Normal(g, doubles, -1, 0.5), normal+1, d, 20, double(-1), double(0.5))
	wants(LogNormal(g, singles.Slice(2, 6), 0, 1), logNormal, s+8, 4, single(0), single(1))
	wants(LogNormal(g, doubles, 0, 1), logNormal+1, d, 20, double(0), double(1))
	wants(Poisson(g, ints, 3.5), poisson, i, 30, double(3.5))
	wants(Bits(g, ints), generate, i, 30)
	wants(Bits(g, longs), generateLong, l, 40)
	calls := b.Count
	b.Check(Uniform(g, singles.Slice(0, 0)))
	if b.Count != calls {
		t.Error("the library was called for no numbers")
	}
	b.Check(g.Seek(1 << 40))
	if b.fake.offset != 1<<40 {
		t.Errorf("the offset is %d", b.fake.offset)
	}
	if n := testing.AllocsPerRun(100, func() { b.Check(Normal(g, singles, 0, 1)) }); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

// TestKinds creates generators of a kind that has dimensions, and of the default kind.
func TestKinds(t *testing.T) {
	b := benchOf(librarytest.New(t, int32(InternalError)))
	defer b.Close()
	for _, c := range []struct {
		o                      Options
		kind, seed, dimensions uintptr
	}{
		{Options{}, 101, 0, 0},
		{Options{Kind: Sobol32, Dimensions: 3, Seed: 5}, 201, 0, 3},
		{Options{Kind: ScrambledSobol64}, 204, 0, 1},
	} {
		*b.fake = fake{}
		g := b.generator(c.o)
		if f := b.fake; f.kind != c.kind || f.seed != c.seed || f.dimensions != c.dimensions {
			t.Errorf("%+v makes %+v", c.o, f)
		}
		b.Check(g.Close())
		if err := g.Close(); !errors.Is(err, ErrClosed) {
			t.Errorf("closed twice: %v", err)
		}
	}
}

// TestClosed uses a generator after Close, and another on a stream that records.
func TestClosed(t *testing.T) {
	b := benchOf(librarytest.New(t, int32(InternalError)))
	g := b.generator(Options{})
	x, _ := librarytest.Array[float32](b.Bench, 10)
	b.Check(g.Close())
	if err := Uniform(g, x); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := b.Stream.Synchronize(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the stream returned %v", err)
	}
	_, err := b.Device.Capture(func(s *device.Stream) error {
		_, err := newGenerator(b.library, s, Options{})
		return err
	})
	if !errors.Is(err, device.ErrCapture) {
		t.Errorf("recorded: %v", err)
	}
	b.Close()
}

// TestEveryFailure lets each call of the library fail in turn.
func TestEveryFailure(t *testing.T) {
	librarytest.EveryFailure(t, int32(LengthNotMultiple), work, func(err error) bool {
		return errors.Is(err, LengthNotMultiple) && strings.Contains(err.Error(), "CURAND_STATUS_LENGTH_NOT_MULTIPLE")
	})
}

func work(b *librarytest.Bench) error {
	g, err := newGenerator(benchOf(b).library, b.Stream, Options{Kind: Sobol32, Offset: 3})
	if err != nil {
		return err
	}
	x, err := device.MakeDirty[float32](b.Stream, 8)
	if err != nil {
		return err
	}
	err = errors.Join(Normal(g, x.All(), 0, 1), g.Seek(1), b.Stream.Synchronize(context.Background()))
	return errors.Join(err, g.Close(), x.Close())
}

func TestOtherDevices(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newGenerator(toolkit.Loaded{}, s, Options{}); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}

func TestInstalled(t *testing.T) {
	if version, path, err := installed(benchOf(new(librarytest.Bench)).library); version != "10.3.9" || path != "libcurand.so.10" || err != nil {
		t.Errorf("got %s at %s, %v", version, path, err)
	}
	version, path, err := Installed()
	if !errors.Is(err, ErrNoLibrary) && err != nil {
		t.Error(err)
	}
	t.Log(version, path, err)
}

func TestSymbols(t *testing.T) {
	if len(symbols) != int(poisson)+1 || (normal+1).String() != "curandGenerateNormalDouble" || poisson.String() != "curandGeneratePoisson" {
		t.Errorf("%d symbols, %v, %v", len(symbols), normal+1, poisson)
	}
	if Status(99).Error() != "CURAND_STATUS(99)" || TypeError.Error() != "CURAND_STATUS_TYPE_ERROR" {
		t.Error(Status(99), TypeError)
	}
}
