package nvml

import (
	"context"
	"errors"
)

// An XID is a serious error of a GPU. The kernel log reports it as "NVRM: Xid ... 79".
type XID struct {
	Device   *Device // one of the devices that are watched, or nil for a lost device
	Number   int     // 31, 79, ...; defined in NVIDIA's documentation
	Instance int     // the MIG instance, or -1
}

// xidEvents is nvmlEventTypeXidCriticalError.
const xidEvents = 8

// pollMilliseconds bounds how long a wait continues after its context is done.
const pollMilliseconds = 200

// WatchXIDs calls report for each error of the devices from now on, until the context is done or
// the library fails. It blocks a thread. It ignores devices that do not support events. If no
// device supports events, the error is NotSupported.
func (l *Library) WatchXIDs(ctx context.Context, devices []*Device, report func(XID)) error {
	if err := l.open(); err != nil {
		return err
	}
	var set handle
	if err := failed("nvmlEventSetCreate", l.calls.create("nvmlEventSetCreate", &set)); err != nil {
		return err
	}
	err := l.watch(ctx, set, devices, report)
	return errors.Join(err, failed("nvmlEventSetFree", l.calls.release("nvmlEventSetFree", set)))
}

func (l *Library) watch(ctx context.Context, set handle, devices []*Device, report func(XID)) error {
	by := map[handle]*Device{}
	for _, d := range devices {
		switch s := l.calls.events("nvmlDeviceRegisterEvents", set, wanted{d.handle, xidEvents}); s {
		case success:
			by[d.handle] = d
		case NotSupported:
		default:
			return failed("nvmlDeviceRegisterEvents", s)
		}
	}
	if len(by) == 0 {
		return failed("nvmlDeviceRegisterEvents", NotSupported)
	}
	for ctx.Err() == nil {
		w := &wait{milliseconds: pollMilliseconds}
		switch s := l.calls.next("nvmlEventSetWait_v2", set, w); s {
		case success:
			x := XID{Device: by[w.event.device], Number: int(w.event.data), Instance: -1}
			if w.event.instance != noInstance {
				x.Instance = int(w.event.instance)
			}
			report(x)
		case TimedOut:
		default:
			return failed("nvmlEventSetWait_v2", s)
		}
	}
	return nil
}
