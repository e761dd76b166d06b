package nvml

// Monitor reads a device repeatedly. Multiple goroutines may invoke its methods simultaneously.
type Monitor struct {
	*Device
	meter *Meter
}

// State is the result of one Read of a Monitor.
type State struct {
	Reading
	Traffic Traffic
	Usage   Usage // since the previous Read; unknown after the first
}

// Monitors returns a monitor of each device, and the software versions.
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
