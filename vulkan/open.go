package vulkan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// Errors of Open, List and devices.
var (
	// ErrNoLoader means that Vulkan's loader is missing. On Windows, it is a part of the GPU's driver.
	ErrNoLoader = errors.New("vulkan: there is no Vulkan loader")
	// ErrNoDevice means that the loader finds no driver with a device, or that no device has the given index.
	ErrNoDevice = errors.New("vulkan: no such device")
	// ErrFeatures means that the device or its driver lacks a feature that all kernels need.
	ErrFeatures = errors.New("vulkan: the device lacks what kernels need")
	// ErrLost means that the driver has given up the device, usually because a kernel hung, or because a kernel without
	// checks accessed memory out of bounds. Not all drivers notice a hanging kernel. So if work on a GPU takes more
	// than a minute, functions that free memory, or that close a stream or the device, also return ErrLost. All later
	// calls return ErrLost, until the program closes the device and opens it again.
	ErrLost = errors.New("vulkan: the device is lost, because a kernel hung or accessed invalid memory; close it and open it again")
)

// Open opens the device with the given index in List. Close the device after use.
func Open(index int) (*device.Device, error) {
	s, err := start()
	if err != nil {
		return nil, err
	}
	b, err := s.open(index)
	if err != nil {
		s.close()
		return nil, err
	}
	return device.New(b), nil
}

// session is an instance of Vulkan.
type session struct {
	*vulkansys.Driver
	instance vulkansys.Instance
	physical []vulkansys.PhysicalDevice
}

// start makes an instance and lists its devices.
func start() (*session, error) {
	d, err := vulkansys.Load()
	if err != nil {
		return nil, fmt.Errorf("%w; %s (%w)", ErrNoLoader, thisMachine().forLoader(), err)
	}
	i, err := d.CreateInstance(vulkansys.NewInstanceInfo(vulkansys.Version(1, 2)))
	var failed *vulkansys.Error
	switch {
	case errors.As(err, &failed) && failed.Result == vulkansys.IncompatibleDriver:
		return nil, noDriver()
	case err != nil:
		return nil, fmt.Errorf("vulkan: making an instance: %w", err)
	}
	s := &session{Driver: d, instance: i}
	if err := s.find(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// noDriver returns the error for a loader that finds no driver.
func noDriver() error {
	return fmt.Errorf("%w: the Vulkan loader finds no driver with a device; %s", ErrNoDevice, thisMachine().forDriver())
}

func (s *session) find() error {
	if err := s.Complete(s.instance); err != nil {
		return err
	}
	list, err := s.PhysicalDevices(s.instance)
	s.physical = list
	return notListed(len(list), err)
}

// notListed returns the error for the loader's answer to the question for devices, or nil. If no driver has a device, the answer of most
// loaders is a failure.
func notListed(devices int, err error) error {
	var failed *vulkansys.Error
	switch {
	case errors.As(err, &failed) && failed.Result == vulkansys.InitializationFail, err == nil && devices == 0:
		return noDriver()
	case err != nil:
		return fmt.Errorf("vulkan: listing devices: %w", err)
	}
	return nil
}

func (s *session) close() { s.DestroyInstance(s.instance) }

// capability selects the variants of kernels without tensor cores and asynchronous copies.
var capability = driver.Capability{Major: 7, Minor: 5}

// newerCapabilities are those whose variants run where a kernel has none for capability, if they contain nothing that Vulkan lacks.
var newerCapabilities = [...]driver.Capability{{Major: 8}, {Major: 9}}

// mostCluster is the number of blocks of the largest cluster, as on other devices. A cluster runs as one workgroup, so a device's limits for
// workgroups hold for its threads and for its shared memory.
const mostCluster = 16

// info describes a device.
func (s *session) info(i int) driver.Info {
	p, d := vulkansys.NewDriverProperties()
	s.Properties(s.physical[i], p)
	l := &p.Limits
	info := driver.Info{
		Kind: "vulkan", Index: i, Name: text(p.Name[:]), Capability: capability, Cores: 1, GPU: typeOf(p.Kind) != Other,
		Driver: fmt.Sprintf("%s %s (Vulkan %d.%d)", text(d.Name[:]), text(d.Version[:]), p.API>>22, p.API>>12&0x3ff),
		Limits: driver.Limits{ThreadsPerBlock: int(l.Invocations), SharedPerBlock: int(l.SharedMemory), ClusterBlocks: mostCluster},
	}
	for axis := range 3 {
		info.Limits.Block[axis], info.Limits.Grid[axis] = int(l.GroupSize[axis]), int(l.GroupCount[axis])
	}
	info.Limits.Block[2] = min(info.Limits.Block[2], 64) // as on all other devices
	info.FlushesSubnormals = !s.arithmetic(s.physical[i]).Denormals[0]
	m := s.Memories(s.physical[i])
	for _, h := range m.Heaps[:m.HeapCount] {
		info.Memory = max(info.Memory, int64(h.Size))
	}
	return info
}

// noIndex returns the error for a number that none of the devices has.
func noIndex(index, devices int) error {
	last := ""
	if devices > 1 {
		last = fmt.Sprintf(" to vulkan:%d", devices-1)
	}
	return fmt.Errorf("%w: there is no vulkan:%d, only vulkan:0%s", ErrNoDevice, index, last)
}

// open makes a logical device of a physical one.
func (s *session) open(index int) (*backend, error) {
	if index < 0 || index >= len(s.physical) {
		return nil, noIndex(index, len(s.physical))
	}
	info := s.info(index)
	p := s.physical[index]
	f, extensions, err := s.enable(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	family, families := -1, s.Families(p)
	for i, q := range families {
		if q.Flags&vulkansys.FamilyCompute != 0 && family < 0 {
			family = i
		}
	}
	if family < 0 {
		return nil, fmt.Errorf("%s: %w: it has no queue for compute shaders", info.Name, ErrFeatures)
	}
	dev, err := s.CreateDevice(p, vulkansys.NewDeviceInfo(uint32(family), f, extensions...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	b := &backend{session: s, device: dev, information: info, family: uint32(family), kernels: map[code]*loaded{}, patience: closePatience(info)}
	b.queue = s.Queue(dev, b.family, 0)
	b.memories = s.Memories(p)
	b.arithmetic, b.subgroup, b.clock = s.arithmetic(p), s.subgroup(p), s.newClock(p, families[family])
	b.views, b.push, b.lacks = s.views(p), s.pushBytes(p), s.lacks(p)
	if b.layout, err = s.CreatePipelineLayout(dev, uint32(b.push)); err != nil {
		s.DestroyDevice(dev)
		return nil, fmt.Errorf("%s: %w", info.Name, err)
	}
	if err := b.examine(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// enable returns the features and the extensions to enable on a device, which are all that kernels can use. It returns an error if a
// feature is missing that all kernels need.
func (s *session) enable(p vulkansys.PhysicalDevice) (*vulkansys.Features2, []string, error) {
	has, has11, has12 := vulkansys.NewFeatures()
	s.Features(p, has)
	if missing := required(has, has12); missing != nil {
		return nil, nil, featureError(missing)
	}
	f, f11, f12 := vulkansys.NewFeatures()
	f.Float64, f.Int64, f.Int16 = has.Float64, 1, has.Int16
	f11.Storage16 = has11.Storage16
	f12.Storage8, f12.BufferAtomics64, f12.Int8, f12.Addresses = has12.Storage8, has12.BufferAtomics64, has12.Int8, 1
	var extensions []string
	if v := s.views(p); v.Any {
		f12.SharedAtomics64 = number(v.Atomics64)
		l := f.WithSharedLayout()
		l.Layout, l.Access16, l.Access8 = 1, number(v.Half), number(v.Bytes)
		extensions = append(extensions, vulkansys.SharedLayout)
	}
	if s.controlsSubgroups(p) {
		f.WithSizeControl().Control = 1
		extensions = append(extensions, vulkansys.SubgroupSizeControl)
	}
	return f, extensions, nil
}

// featureError returns the error for a device without features that all kernels need.
func featureError(missing []string) error {
	return fmt.Errorf("%w: it has no %s; %s", ErrFeatures, strings.Join(missing, " and no "), thisMachine().forFeatures())
}

// number returns a boolean as Vulkan's features have it.
func number(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// views returns the sizes in which a device can access shared memory.
func (s *session) views(p vulkansys.PhysicalDevice) ptxspirv.Views {
	if !s.HasExtension(p, vulkansys.SharedLayout) {
		return ptxspirv.Views{}
	}
	f, _, f12 := vulkansys.NewFeatures()
	l := f.WithSharedLayout()
	s.Features(p, f)
	if l.Layout == 0 {
		return ptxspirv.Views{}
	}
	return ptxspirv.Views{
		Any: true, Half: l.Access16 != 0 && f.Int16 != 0, Bytes: l.Access8 != 0 && f12.Int8 != 0, Atomics64: f12.SharedAtomics64 != 0,
	}
}

// lacks returns the features that a device lacks and some kernels need.
func (s *session) lacks(p vulkansys.PhysicalDevice) ptxspirv.Features {
	f, f11, f12 := vulkansys.NewFeatures()
	s.Features(p, f)
	return lacking(f, f11, f12)
}

// mostPushed is the number of bytes of push constants of the GPUs that have most.
const mostPushed = 256

// pushBytes returns the number of bytes of push constants of a device that kernels use, at least 128.
func (s *session) pushBytes(p vulkansys.PhysicalDevice) int {
	all, _ := vulkansys.NewDriverProperties()
	s.Properties(p, all)
	return int(min(all.Limits.PushConstants, mostPushed))
}

// arithmetic returns what kernels may demand of a device's arithmetic.
func (s *session) arithmetic(p vulkansys.PhysicalDevice) ptxspirv.Arithmetic {
	all, _, f := vulkansys.NewProperties2()
	s.Properties(p, all)
	withDriver, d := vulkansys.NewDriverProperties()
	s.Properties(p, withDriver)
	a := ptxspirv.Arithmetic{Shallow: d.ID == vulkansys.DriverLLVMpipe}
	for i := range 2 {
		a.SignedZero[i], a.Denormals[i], a.Nearest[i] = f.SignedZeroInfNan[i+1] != 0, f.DenormPreserve[i+1] != 0, f.RoundingToNearest[i+1] != 0
	}
	return a
}
