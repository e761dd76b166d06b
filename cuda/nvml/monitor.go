package nvml

// Monitor reads a device again and again. Its methods may be called from any goroutine.
type Monitor struct {
	*Device
	meter *Meter
}

// State is what a Monitor reads at once.
type State struct {
	Reading
	Traffic Traffic
	Usage   Usage // since the state before; the first has none
}

// Monitors returns a monitor of each device, and the versions of what they are read with.
func (l *Library) Monitors() ([]*Monitor, Versions, error) {
	devices, err := l.Devices()
	if err != nil {
		return nil, Versions{}, err
	}
	var all []*Monitor
	for _, d := range devices {
		all = append(all, &Monitor{d, d.Meter()})
	}
	versions, err := l.Versions()
	return all, versions, err
}

// Read reads the device's state.
func (m *Monitor) Read() (s State, err error) {
	if s.Reading, err = m.Device.Read(); err != nil {
		return s, err
	}
	if s.Traffic, err = m.Traffic(); err != nil {
		return s, err
	}
	s.Usage, err = m.meter.Usage()
	return s, err
}
