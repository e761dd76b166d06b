package nvml

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrNoLibrary matches the error of Open if the library, which is part of the driver, is not
// installed.
var ErrNoLibrary = toolkit.ErrNotFound

// ErrClosed is the error of a call on a closed Library.
var ErrClosed = errors.New("nvml: the library was closed")

// library describes where NVML is: with the driver, also in WSL and on NixOS.
var library = toolkit.Library{
	Name:    "NVML",
	Unix:    []string{"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1", "/run/opengl-driver/lib/libnvidia-ml.so.1"},
	Windows: []string{"nvml.dll", `C:\Program Files\NVIDIA Corporation\NVSMI\nvml.dll`},
	Get:     "install the NVIDIA driver, which contains it",
}

// symbols are the functions that Library calls. Drivers of recent years have all of them. If a
// driver lacks some, their values are unknown.
var symbols = []string{
	"nvmlInit_v2", "nvmlShutdown", "nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion",
	"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetProcessName",
	"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2",
	"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetSerial", "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetMinorNumber",
	"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
	"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetBAR1MemoryInfo",
	"nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetTotalEnergyConsumption",
	"nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetFieldValues", "nvmlDeviceGetFanSpeed",
	"nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPerformanceState",
	"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
	"nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlGpmSampleFree", "nvmlGpmSampleGet", "nvmlGpmMetricsGet",
	"nvmlDeviceGetPcieThroughput", "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth",
	"nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetPcieReplayCounter",
	"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows", "nvmlDeviceGetEccMode",
	"nvmlDeviceGetPersistenceMode", "nvmlDeviceGetComputeMode", "nvmlDeviceGetMigMode",
	"nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
	"nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetComputeInstanceId",
	"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetProcessUtilization",
	"nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2", "nvmlEventSetFree",
}

// Library is the opened management library. Close it after use.
type Library struct {
	calls  calls
	path   string
	closed atomic.Bool
}

// Open finds and initializes the library. If it is not installed, the error matches ErrNoLibrary.
// If the driver does not work, the error is an *Error, such as DriverNotLoaded, VersionMismatch or
// NoPermission.
func Open() (*Library, error) {
	lib, err := toolkit.Open(library)
	if err != nil {
		return nil, fmt.Errorf("nvml: %w", err)
	}
	return start(bind(lib.Symbol), lib.Name())
}

func start(c calls, path string) (*Library, error) {
	if err := failed("nvmlInit_v2", c.plain("nvmlInit_v2")); err != nil {
		return nil, err
	}
	return &Library{calls: c, path: path}, nil
}

// Close closes the library. Later calls on its devices return an error.
func (l *Library) Close() error {
	if l.closed.Swap(true) {
		return ErrClosed
	}
	return failed("nvmlShutdown", l.calls.plain("nvmlShutdown"))
}

// Path returns the name under which the library was found.
func (l *Library) Path() string { return l.path }

// Versions are the versions of the driver and its libraries.
type Versions struct {
	Driver string // "580.95.05"
	NVML   string // "13.580.95.05"
	CUDA   string // the newest version that the driver supports: "13.0"
}

// Versions returns the versions.
func (l *Library) Versions() (v Versions, err error) {
	if err := l.open(); err != nil {
		return v, err
	}
	var cuda uint32
	v.Driver, err = l.text("nvmlSystemGetDriverVersion", 0)
	if err == nil {
		v.NVML, err = l.text("nvmlSystemGetNVMLVersion", 0)
	}
	if err == nil {
		const f = "nvmlSystemGetCudaDriverVersion_v2"
		err = failed(f, l.calls.systemNumber(f, &cuda))
	}
	v.CUDA = fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10)
	return v, err
}

// Devices returns the GPUs of the machine in the library's order, which is the order of their bus
// addresses.
func (l *Library) Devices() ([]*Device, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	var n uint32
	if err := failed("nvmlDeviceGetCount_v2", l.calls.systemNumber("nvmlDeviceGetCount_v2", &n)); err != nil {
		return nil, err
	}
	var all []*Device
	for i := range n {
		d := &Device{library: l, index: int(i)}
		const f = "nvmlDeviceGetHandleByIndex_v2"
		if err := failed(f, l.calls.device(f, i, &d.handle)); err != nil {
			return nil, fmt.Errorf("%w of device %d", err, i)
		}
		if err := d.identify(); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// ProcessName returns the path of a process's executable.
func (l *Library) ProcessName(pid int) (string, error) {
	if err := l.open(); err != nil {
		return "", err
	}
	buf := make([]byte, 1024)
	err := failed("nvmlSystemGetProcessName", l.calls.process("nvmlSystemGetProcessName", uint32(pid), buf))
	return until0(buf), err
}

func (l *Library) open() error {
	if l.closed.Load() {
		return ErrClosed
	}
	return nil
}

// text returns a text that a function reports for a device, or for the system.
func (l *Library) text(f string, d handle) (string, error) {
	buf := make([]byte, 128)
	err := failed(f, l.calls.text(f, d, buf))
	return until0(buf), err
}

// until0 returns the contents of a buffer up to its first zero byte.
func until0(buf []byte) string {
	text, _, _ := bytes.Cut(buf, []byte{0})
	return string(text)
}
