package vulkan

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
)

// waiting is a kernel whose threads add 1 to a word until it is negative.
const waiting = `
.version 6.4
.target sm_75
.address_size 64
.visible .entry probe(.param .align 8 .b8 probe_params[8])
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [probe_params];
$LOOP:
	atom.global.add.u32 %r1, [%rd1], 1;
	setp.ge.s32 %p1, %r1, 0;
	@%p1 bra $LOOP;
	ret;
}
`

// hang is a device that runs a kernel until a test ends, or for seconds.
type hang struct {
	*backend
	queue, other *queue
	memory       driver.Memory
}

func hanging(t *testing.T) hang {
	t.Helper()
	h := hang{backend: opened(t)}
	m, err := ptx.Parse(waiting)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ptxspirv.Translate(m, "probe", ptxspirv.Options{Block: [3]int{256, 1, 1}, Lacks: h.lacks, Arithmetic: h.arithmetic})
	if err != nil {
		t.Fatal(err)
	}
	l := &loaded{}
	if err := h.compile(l, p); err != nil {
		t.Fatal(err)
	}
	for _, q := range []**queue{&h.queue, &h.other} {
		if *q, err = h.newQueue(); err != nil {
			t.Fatal(err)
		}
	}
	if h.memory, err = h.Allocate(16); err != nil {
		t.Fatal(err)
	}
	flag, err := h.allocate(4, hostMemory)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(flag.host, 1<<31-1<<27) // for seconds, if nobody changes it
	err = h.queue.work(func() error {
		params := binary.LittleEndian.AppendUint64(nil, flag.address)
		s, err := h.queue.stage.take(len(params))
		if err != nil {
			return err
		}
		copy(s.host, params)
		h.queue.dispatch(l, binary.LittleEndian.AppendUint64(nil, s.address), [3]int{16, 1, 1}) // llvmpipe ends a loop after 65,536 iterations
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the driver cannot be unloaded while the kernel runs
		flag.host[3] = 0x80
		if err := h.WaitIdle(h.device); err != nil {
			t.Error(err)
		}
	})
	return h
}

// TestWaitsEnd waits for a kernel that does not end with a context that ends, while another goroutine waits without one. The device
// stays usable, because the kernel may just take long.
func TestWaitsEnd(t *testing.T) {
	h := hanging(t)
	done, err := h.queue.Done()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := h.queue.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v, want %v", err, context.DeadlineExceeded)
		}
		cancel()
	}
	if err := h.usable(); err != nil {
		t.Error(err)
	}
	select {
	case <-done:
		t.Error("Done reports that the kernel has ended")
	default:
	}
}

// TestHung closes what a kernel uses that does not end. The calls return, and the device is lost.
func TestHung(t *testing.T) {
	for name, call := range map[string]func(h hang) error{
		"closing the stream": func(h hang) error { return h.queue.Close() },
		"freeing memory":     func(h hang) error { return h.memory.Free() },
		"closing the device": func(h hang) error { return h.backend.Close() },
		"closing the device with its streams": func(h hang) error {
			dev := device.New(h.backend)
			return dev.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := hanging(t)
			h.patience = 30 * time.Millisecond
			waited := make(chan error)
			go func() { waited <- h.queue.Wait(t.Context()) }()
			if err := call(h); !errors.Is(err, ErrLost) {
				t.Errorf("%s: %v, want %v", name, err, ErrLost)
			}
			if err := <-waited; !errors.Is(err, ErrLost) && !errors.Is(err, driver.ErrClosed) {
				t.Errorf("Wait of another goroutine: %v, want %v", err, ErrLost)
			}
			for name, err := range map[string]error{"Wait": h.other.Wait(t.Context()), "Zero": h.other.Zero(4, 4), "Close": h.other.Close()} {
				if !errors.Is(err, ErrLost) && !errors.Is(err, driver.ErrClosed) {
					t.Errorf("%s of another stream: %v, want %v", name, err, ErrLost)
				}
			}
		})
	}
}
