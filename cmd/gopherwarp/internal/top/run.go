package top

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Run shows snapshots that read brings, one every interval, on the terminal out until the user
// ends it or ctx is done.
func Run(ctx context.Context, read func() Snapshot, interval time.Duration, out io.Writer) error {
	p := tea.NewProgram(model{read: read, interval: interval}, tea.WithContext(ctx), tea.WithOutput(out))
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// model is the state of the screen.
type model struct {
	read          func() Snapshot
	interval      time.Duration
	width, height int
	shown         *Snapshot
	paused        bool
}

// fresh is a snapshot that was read.
type fresh struct{ Snapshot }

// due is that the next snapshot should be read.
type due struct{}

// Init reads the first snapshot.
func (m model) Init() tea.Cmd { return m.reading }

func (m model) reading() tea.Msg { return fresh{m.read()} }

// Update takes what happened.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "esc", "ctrl+c":
			return m, tea.Quit
		case "space":
			m.paused = !m.paused
		}
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case fresh:
		if !m.paused || m.shown == nil {
			m.shown = &msg.Snapshot
		}
		return m, tea.Tick(m.interval, func(time.Time) tea.Msg { return due{} })
	case due:
		return m, m.reading
	}
	return m, nil
}

// View draws the screen.
func (m model) View() tea.View {
	v := tea.NewView("reading the GPUs")
	if m.shown != nil && m.width > 0 {
		v.SetContent(View(*m.shown, m.width, m.height))
	}
	v.AltScreen = true
	return v
}
