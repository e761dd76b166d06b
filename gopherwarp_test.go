package gopherwarp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// fake is a device that only describes itself.
type fake struct {
	driver.Backend
	info device.Info
}

func (f fake) Info() device.Info { return f.info }
func (f fake) Close() error      { return nil }

func fakeDevice(kind string, index int) *device.Device {
	return device.New(fake{info: device.Info{Kind: kind, Index: index, Name: "fake"}})
}

var errAbsent = &cuda.Unavailable{
	What: "no NVIDIA driver was found (libcuda.so.1)", Means: "It is needed.", Do: "Install it.", Kind: cuda.ErrNoDriver,
}

// machine returns the devices of a machine with the given number of GPUs; with none, err
// is why.
func machine(gpus int, err error) kinds {
	return kinds{
		cuda: func(i int) (*device.Device, error) {
			switch {
			case gpus == 0:
				return nil, err
			case i >= gpus:
				return nil, fmt.Errorf("no device %d", i)
			}
			return fakeDevice("cuda", i), nil
		},
		cudaList: func() ([]device.Info, error) {
			var infos []device.Info
			for i := range gpus {
				infos = append(infos, fakeDevice("cuda", i).Info())
			}
			return infos, err
		},
		vulkan:     func(i int) (*device.Device, error) { return fakeDevice("vulkan", i), nil },
		vulkanList: func() ([]vulkan.Description, error) { return nil, vulkan.ErrNoLoader },
		cpu:        func(t cpu.Threads) (*device.Device, error) { return fakeDevice("cpu", int(t)), nil },
		interp:     func(ptxinterp.Options) (*device.Device, error) { return fakeDevice("interp", 0), nil },
	}
}

// with returns the machine with devices of Vulkan as well.
func (k kinds) with(types ...vulkan.Type) kinds {
	k.vulkanList = func() (list []vulkan.Description, err error) {
		for i, t := range types {
			list = append(list, vulkan.Description{Info: fakeDevice("vulkan", i).Info(), Type: t})
		}
		return list, nil
	}
	return k
}

// refusing returns the machine with devices of Vulkan that cannot be opened.
func (k kinds) refusing() kinds {
	k.vulkan = func(int) (*device.Device, error) { return nil, errors.New("vulkan: lost") }
	return k
}

// lacking returns the machine with devices of Vulkan that lack features.
func (k kinds) lacking(missing []string, lacks ...string) kinds {
	all, err := k.vulkanList()
	for i := range all {
		all[i].Missing, all[i].Lacks = missing, lacks
	}
	k.vulkanList = func() ([]vulkan.Description, error) { return all, err }
	return k
}

func TestOpen(t *testing.T) {
	for _, test := range []struct {
		machine kinds
		asked   string
		want    string // kind:index, reason
	}{
		{machine(2, nil), "", "cuda:0, "},
		{machine(2, nil), "cuda", "cuda:0, "},
		{machine(2, nil), "cuda:1", "cuda:1, "},
		{machine(2, nil), "cpu", "cpu:0, GOPHERWARP_DEVICE selects it"},
		{machine(2, nil), "cpu:coroutines", "cpu:1, GOPHERWARP_DEVICE selects it"},
		{machine(2, nil), "cpu:goroutines", "cpu:2, GOPHERWARP_DEVICE selects it"},
		{machine(2, nil), "interp", "interp:0, GOPHERWARP_DEVICE selects it"},
		{machine(2, nil).with(vulkan.Discrete), "", "cuda:0, "},
		{machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated, vulkan.Discrete), "", "vulkan:2, "},
		{machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated), "", "vulkan:1, "},
		{machine(0, errAbsent).with(vulkan.Other), "", "cpu:0, " + errAbsent.What + " and Vulkan finds no GPU"},
		{machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated, vulkan.Discrete), "vulkan", "vulkan:2, "},
		{machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated, vulkan.Discrete), "vulkan:1", "vulkan:1, "},
		{machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated).lacking(nil, "float64"), "vulkan", "vulkan:1, "},
		{machine(0, errAbsent).with(vulkan.Integrated, vulkan.Integrated), "vulkan", "vulkan:0, "},
		{machine(0, errAbsent), "vulkan", "vulkan:0, "}, // which fails on a machine without Vulkan
		{machine(0, errAbsent).with(vulkan.Other), "vulkan", "vulkan:0, "},
		{machine(0, errAbsent).with(vulkan.Discrete).refusing(), "", "cpu:0, " + errAbsent.What + " and fake (vulkan:0) cannot be used (lost)"},
		{machine(0, errAbsent).with(vulkan.Integrated).lacking(nil, "float64"), "",
			"cpu:0, " + errAbsent.What + " and fake (vulkan:0), which GOPHERWARP_DEVICE=vulkan:0 selects, lacks float64"},
		{machine(0, errAbsent).with(vulkan.Integrated).lacking([]string{"addresses"}, "float64"), "",
			"cpu:0, " + errAbsent.What + " and fake (vulkan:0) cannot be used (it lacks addresses)"},
		{machine(0, errAbsent), "", "cpu:0, no NVIDIA driver was found (libcuda.so.1) and Vulkan finds no GPU"},
		{machine(0, errors.New("cuda: cuDeviceGetCount: CUDA_ERROR_UNKNOWN")), "", "cpu:0, the GPU cannot be used (cuDeviceGetCount: CUDA_ERROR_UNKNOWN) and Vulkan finds no GPU"},
	} {
		dev, err := test.machine.open(test.asked)
		if err != nil {
			t.Errorf("%q: %v", test.asked, err)
			continue
		}
		i := dev.Info()
		if got := fmt.Sprintf("%s:%d, %s", i.Kind, i.Index, i.Reason); got != test.want {
			t.Errorf("%q: got %s, want %s", test.asked, got, test.want)
		}
	}
}

// TestInterpreterOptions tests the options after "interp:".
func TestInterpreterOptions(t *testing.T) {
	for asked, want := range map[string][3]bool{ // races, uninitialized memory, traffic
		"interp": {true, true, false}, "interp:fast": {}, "interp:traffic": {true, true, true},
		"interp:fast,traffic": {false, false, true}, "interp:traffic,fast": {false, false, true},
	} {
		c, err := parse(asked)
		if err != nil {
			t.Error(err)
			continue
		}
		o := c.options()
		if got := [3]bool{o.Checks.Races, o.Checks.Unwritten, o.Traffic != nil}; got != want {
			t.Errorf("%q: %v, want %v", asked, got, want)
		}
	}
}

func TestAskedForIsNotThere(t *testing.T) {
	for _, asked := range []string{"cuda", "cuda:0"} {
		if _, err := machine(0, errAbsent).open(asked); !errors.Is(err, cuda.ErrNoDriver) {
			t.Errorf("%q without a driver: %v", asked, err)
		}
	}
	if _, err := machine(2, nil).open("cuda:2"); err == nil {
		t.Error("a device that is not there was opened")
	}
}

func TestBadVariable(t *testing.T) {
	for _, asked := range []string{"gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:99999999", "cpu:0", " cpu", "cpu:", ":", ":0", "interp:", "interp:1", "interp:fast,", "interp:fast traffic"} {
		_, err := machine(2, nil).open(asked)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("gopherwarp: GOPHERWARP_DEVICE is %q; it can be ", asked)) {
			t.Errorf("%q: %v", asked, err)
		}
		for _, valid := range []string{`"cuda"`, `"cuda:0"`, `"cpu"`, `"cpu:coroutines"`, `"cpu:goroutines"`, `"interp"`, `"interp:fast"`, `"interp:traffic"`} {
			if err == nil || !strings.Contains(err.Error(), valid) {
				t.Errorf("%q: %v does not say that %s is valid", asked, err, valid)
			}
		}
	}
}

func TestDevices(t *testing.T) {
	for gpus, want := range [][]string{{"cpu:0"}, {"cuda:0", "cpu:0"}, {"cuda:0", "cuda:1", "cpu:0"}} {
		infos, err := machine(gpus, nil).list()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range infos {
			got = append(got, fmt.Sprintf("%s:%d", i.Kind, i.Index))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d GPUs: got %v, want %v", gpus, got, want)
		}
	}
	infos, err := machine(0, errAbsent).with(vulkan.Other, vulkan.Integrated).list()
	if err != nil || len(infos) != 2 || infos[0].Kind != "vulkan" || infos[0].Index != 1 || infos[1].Kind != "cpu" || infos[1].Reason != "" {
		t.Errorf("got %+v, %v", infos, err)
	}
	infos, err = machine(0, errAbsent).list()
	if err != nil || len(infos) != 1 || infos[0].Reason != errAbsent.What+" and Vulkan finds no GPU" {
		t.Errorf("got %+v, %v", infos, err)
	}
}

// TestPreferred tests which device of Vulkan is opened without a number.
func TestPreferred(t *testing.T) {
	device := func(t vulkan.Type, missing int, lacks ...string) vulkan.Description {
		return vulkan.Description{Type: t, Missing: make([]string, missing), Lacks: lacks}
	}
	for name, c := range map[string]struct {
		list []vulkan.Description
		want int
	}{
		"nothing":                               {nil, 0},
		"a complete GPU":                        {[]vulkan.Description{device(vulkan.Discrete, 0, "float64"), device(vulkan.Integrated, 0)}, 1},
		"a GPU that can be opened":              {[]vulkan.Description{device(vulkan.Discrete, 1), device(vulkan.Integrated, 0, "float64")}, 1},
		"a CPU, because the GPU lacks too much": {[]vulkan.Description{device(vulkan.Discrete, 1), device(vulkan.Other, 0)}, 1},
		"the first of two":                      {[]vulkan.Description{device(vulkan.Discrete, 0), device(vulkan.Discrete, 0)}, 0},
	} {
		for i := range c.list {
			c.list[i].Index = i
			if len(c.list[i].Missing) == 0 {
				c.list[i].Missing = nil
			}
		}
		k := machine(0, errAbsent)
		k.vulkanList = func() ([]vulkan.Description, error) { return c.list, nil }
		if got := k.preferred(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestThisMachine(t *testing.T) {
	t.Setenv(Variable, "")
	dev, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	i := dev.Info()
	t.Log(i)
	if i.Kind == "cpu" && i.Reason == "" {
		t.Error("the CPU was selected without a reason")
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	infos, err := Devices()
	if err != nil || infos[len(infos)-1].Kind != "cpu" || infos[0].Kind != i.Kind {
		t.Errorf("got %+v, %v", infos, err)
	}
}

func TestCheckDevice(t *testing.T) {
	for value, want := range map[string]bool{"": true, "cuda:7": true, "interp:fast,traffic": true, "gpuu": false, "cuda:x": false} {
		if err := CheckDevice(value); (err == nil) != want {
			t.Errorf("%q: got %v, want an error: %v", value, err, !want)
		}
	}
}

// TestOpenNamed opens a device with a name, whatever the environment variable selects.
func TestOpenNamed(t *testing.T) {
	t.Setenv(Variable, "interp")
	dev, err := OpenNamed("cpu")
	if err != nil {
		t.Fatal(err)
	}
	if kind := dev.Info().Kind; kind != "cpu" {
		t.Errorf("the device is of the kind %q", kind)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if dev, err := OpenNamed("gpu"); err == nil {
		t.Errorf("gpu opens %v", dev.Info())
	}
}
