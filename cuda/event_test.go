package cuda

import (
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
)

// TestGPUEvents copies ten arrays of 10M elements from pinned memory, runs a kernel on each and
// copies them back, on one stream and on ten, with an event after each operation. The times between
// consecutive events of a stream add up to the time from the first event to the last, and none
// exceeds the time that the program measured.
func TestGPUEvents(t *testing.T) {
	const arrays, n = 10, 10_000_000
	dev, err := onGPU(t)()
	check(t, err)
	k, streams, lanes := devicetest.Multiply(), make([]*device.Stream, arrays), make([]lane, arrays)
	for i := range lanes {
		streams[i] = newStream(t, dev)
		lanes[i] = newLane(t, streams[i], n)
		check(t, launch(streams[i], k, device.Cover(1, 32), lanes[i].x.All(), lanes[i].x.All(), lanes[i].y.All()))
		check(t, streams[i].Synchronize(t.Context()))
	}
	for _, many := range []int{1, arrays} {
		events := make([][]*device.Event, many)
		mark := func(i int) {
			e, err := streams[i].Record()
			check(t, err)
			events[i] = append(events[i], e)
		}
		began := time.Now()
		for i := range many {
			mark(i)
		}
		for i, l := range lanes {
			i %= many
			check(t, device.UploadPinned(streams[i], l.x.All(), l.in.All()))
			mark(i)
			check(t, launch(streams[i], k, device.Cover(n, 256), l.x.All(), l.x.All(), l.y.All()))
			mark(i)
			check(t, device.DownloadPinned(streams[i], l.out.All(), l.y.All()))
			mark(i)
		}
		for i := range many {
			check(t, streams[i].Synchronize(t.Context()))
		}
		took := time.Since(began)
		var busy, longest time.Duration
		for _, of := range events {
			var parts time.Duration
			for i, e := range of[1:] {
				part, err := e.Since(of[i])
				check(t, err)
				if parts += part; part <= 0 || part > took {
					t.Errorf("%d streams: a part took %v of %v", many, part, took)
				}
			}
			whole, err := of[len(of)-1].Since(of[0])
			check(t, err)
			// The clock has steps of half a microsecond; the times, float32 milliseconds, keep nearly that resolution.
			if slack := time.Duration(len(of)) * time.Microsecond; (parts-whole).Abs() > slack || whole > took+slack {
				t.Errorf("%d streams: the parts of one add up to %v, the whole took %v of %v", many, parts, whole, took)
			}
			busy, longest = busy+whole, max(longest, whole)
			for _, e := range of {
				check(t, e.Close())
			}
		}
		t.Logf("%d streams: %v in all, %v by the events of the longest, %v of all streams together", many, took, longest, busy)
	}
	check(t, dev.Close())
}
