package nccl

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

var known = toolkit.Kind{
	Library: toolkit.Library{
		Name: "NCCL", Unix: []string{"libnccl.so.2"}, Wheels: []string{"nccl"},
		Get: "to install it: pip install nvidia-nccl-cu13 (or nvidia-nccl-cu12), or the system package libnccl2",
	},
	Package: "nccl", Symbols: symbols, Needs: "2.23",
	Failed: func(symbol string, status int32) error { return fmt.Errorf("nccl: %s: %w", symbol, Status(status)) },
}

// function is a function of the library.
type function int

const (
	getVersion function = iota
	getUniqueID
	initRank
	destroy
	abort
	finalize
	asyncError
	groupStart
	groupEnd
	allReduce
	allGather
	reduceScatter
	broadcast
	reduce
	send
	receive
)

// symbols are in the order of the functions. ncclCommInitRankScalable is the only function for
// creating a communicator without a struct passed by value; NCCL has it since 2.23.
var symbols = []string{
	"ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRankScalable", "ncclCommDestroy", "ncclCommAbort", "ncclCommFinalize",
	"ncclCommGetAsyncError", "ncclGroupStart", "ncclGroupEnd",
	"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast", "ncclReduce", "ncclSend", "ncclRecv",
}

func (f function) String() string { return symbols[f] }

// load opens the library at most once in a process. The library stays open.
var load = known.Lazy()

// uniqueIDBytes is the size of an ncclUniqueId.
const uniqueIDBytes = 128

// config is the ncclConfig_t of NCCL 2.18, which later versions accept too: it contains its size
// and version.
type config struct {
	size      uintptr
	magic     uint32
	version   int32
	blocking  int32
	cluster   int32
	least     int32
	most      int32
	network   uintptr
	splitting int32
	_         int32
}

// Values of config.
const (
	configMagic   = 0xcafebeef
	configVersion = 21800
	undefined     = -1 << 31
)

// notBlocking returns a configuration in which calls return before they have completed, so that a
// rank can give up a call that hangs.
func notBlocking() *config {
	return &config{
		size: 48, magic: configMagic, version: configVersion,
		cluster: undefined, least: undefined, most: undefined, splitting: undefined,
	}
}

// Installed returns the version of the library that communicators use, such as "2.28.3", and the
// path where it was found. It needs no GPU. If the library is not installed, the error matches
// ErrNoLibrary and lists where the package looked.
func Installed() (version, path string, err error) {
	l, err := load()
	if err != nil {
		return "", "", err
	}
	return installed(l)
}

func installed(l toolkit.Loaded) (version, path string, err error) {
	v := new(int32)
	if err := l.Call(int(getVersion), toolkit.Before{}, []uintptr{uintptr(unsafe.Pointer(v))}); err != nil {
		return "", "", err
	}
	return fmt.Sprintf("%d.%d.%d", *v/10000, *v%10000/100, *v%100), l.Path, nil
}
