package cuda

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// TestPeers copies between two devices, with peer access and without.
func TestPeers(t *testing.T) {
	for _, noPeers := range []bool{false, true} {
		f := cudafake.New(cudafake.H200, cudafake.H200)
		f.NoPeers = noPeers
		var devs [2]*device.Device
		var streams [2]*device.Stream
		for i := range devs {
			var err error
			devs[i], err = on(f, nil).openDevice(i)
			check(t, err)
			streams[i] = newStream(t, devs[i])
		}
		want := []int32{3, 1, 4, 1, 5}
		a, err := device.Upload(streams[0], want)
		check(t, err)
		b, err := device.Make[int32](streams[1], 5)
		check(t, err)
		got := make([]int32, 5)
		for range 2 {
			check(t, device.CopyFrom(streams[1], b.All(), streams[0], a.All()))
			check(t, device.CopyFrom(streams[0], a.All(), streams[1], b.All()))
		}
		check(t, device.Download(streams[0], got, a))
		check(t, streams[0].Synchronize(t.Context()))
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		allowed := map[bool]int{false: 2, true: 0}[noPeers] // in each direction
		for call, n := range map[string]int{
			"cuMemcpyPeerAsync": 4, "cuCtxEnablePeerAccess": allowed, "cuMemPoolSetAccess": allowed,
		} {
			if f.Calls(call) != n {
				t.Errorf("without peers %v: %d calls of %s, want %d", noPeers, f.Calls(call), call, n)
			}
		}
		for _, dev := range devs {
			mustClose(t, dev)
		}
		wantNothingLive(t, f)
	}
}
