package repository_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// loader loads the values 1, 2, ... of a model, a second each. errs are the errors of the first loads; nil is none.
type loader struct {
	errs         []error
	loads, frees int
	open         bool
}

func (l *loader) load(ctx context.Context) (int, func() error, error) {
	if l.open {
		panic("the model is already loaded")
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
	if l.loads++; l.loads <= len(l.errs) && l.errs[l.loads-1] != nil {
		return 0, nil, l.errs[l.loads-1]
	}
	l.open = true
	return l.loads, func() error {
		time.Sleep(time.Second)
		l.frees, l.open = l.frees+1, false
		return nil
	}, nil
}

// add adds a model.
func add(t *testing.T, r *repository.Repository, name string, l *loader) *repository.Model[int] {
	t.Helper()
	m, err := repository.Add(r, name, l.load)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// use uses a model, whose value must be want.
func use(t *testing.T, m *repository.Model[int], want int) (release func()) {
	t.Helper()
	got, release, err := m.Use(t.Context())
	if err != nil || got != want {
		t.Fatalf("Use returns %d, %v, want %d", got, err, want)
	}
	return release
}

// check compares the state of a model with the state that it should have.
func check[T any](t *testing.T, m *repository.Model[T], want repository.State) {
	t.Helper()
	if got := m.Status(); got.State != want {
		t.Errorf("the model is %+v, want %v", got, want)
	}
}

// Uses that begin at the same time share a load. A model that is not used is unloaded, and loaded again for the next use.
func TestUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []string
		r := repository.New(repository.Options{KeepAlive: time.Minute, Changed: func(s repository.Status) { states = append(states, s.State.String()) }})
		l := &loader{}
		m := add(t, r, "m", l)
		check(t, m, repository.Unloaded)
		if _, _, ok := m.Peek(); ok {
			t.Error("Peek returns a model that is not loaded")
		}
		var users sync.WaitGroup
		for range 10 {
			users.Go(func() {
				release := use(t, m, 1)
				time.Sleep(2 * time.Minute)
				release()
				release()
			})
		}
		time.Sleep(time.Millisecond)
		if s := m.Status(); s.State != repository.Loading || s.Waiting != 10 {
			t.Errorf("during the load: %+v", s)
		}
		users.Wait()
		time.Sleep(59 * time.Second)
		check(t, m, repository.Ready)
		value, release, ok := m.Peek() // does not postpone the end
		if !ok || value != 1 {
			t.Errorf("Peek returns %d, %v", value, ok)
		}
		time.Sleep(2 * time.Second)
		check(t, m, repository.Ready) // because of Peek
		release()
		time.Sleep(time.Millisecond)
		check(t, m, repository.Unloading)
		use(t, m, 2)() // waits for the end of the unload, and for the load
		if s, err := r.Status("m"); err != nil || s.Loads != 2 || s.Failures != 0 || s.Took != time.Second || l.frees != 1 {
			t.Errorf("%+v, %v; %d frees", s, err, l.frees)
		}
		if err := r.Close(); err != nil || l.frees != 2 {
			t.Errorf("Close returns %v after %d frees", err, l.frees)
		}
		if want := strings.Fields("loading ready unloading unloaded loading ready unloading unloaded"); !slices.Equal(states, want) {
			t.Errorf("the states are %v", states)
		}
		if _, _, err := m.Use(t.Context()); !errors.Is(err, repository.ErrClosed) {
			t.Errorf("after Close, Use returns %v", err)
		}
	})
}

// A use whose context ends does not end the load.
func TestImpatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := repository.New(repository.Options{KeepAlive: time.Minute})
		m := add(t, r, "m", &loader{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, _, err := m.Use(ctx)
		if !errors.Is(err, repository.ErrLoading) || !errors.Is(err, context.DeadlineExceeded) || err.Error() != `the model is not ready yet: "m" is loading: context deadline exceeded` {
			t.Errorf("Use returns %v", err)
		}
		time.Sleep(time.Second)
		check(t, m, repository.Ready)
		time.Sleep(time.Minute + time.Second)
		check(t, m, repository.Unloaded)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// All uses that wait for a load that fails get its error, and so do those of the next seconds. Other models are not affected.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, broken := repository.New(repository.Options{}), errors.New("broken file")
		l := &loader{errs: []error{broken, broken}}
		m, other := add(t, r, "m", l), add(t, r, "other", &loader{})
		var users sync.WaitGroup
		for range 5 {
			users.Go(func() {
				_, _, err := m.Use(t.Context())
				if e, ok := errors.AsType[*repository.LoadError](err); !ok || e.Retry != 10*time.Second || !errors.Is(err, broken) || err.Error() != `the model "m" cannot be loaded: broken file` {
					t.Errorf("Use returns %v", err)
				}
			})
		}
		users.Wait()
		time.Sleep(9 * time.Second)
		if _, _, err := m.Use(t.Context()); !errors.Is(err, broken) || l.loads != 1 {
			t.Errorf("after 9 seconds, Use returns %v; %d loads", err, l.loads)
		}
		use(t, other, 1)()
		if err := r.Health(); err != nil {
			t.Errorf("with a model that works: %v", err)
		}
		if err := r.Load(t.Context(), "m"); !errors.Is(err, broken) || l.loads != 2 { // at once
			t.Errorf("Load returns %v; %d loads", err, l.loads)
		}
		if s := m.Status(); s.State != repository.Failed || s.Err != broken || s.Failures != 2 {
			t.Errorf("%+v", s)
		}
		time.Sleep(10 * time.Second)
		use(t, m, 3)()
		check(t, m, repository.Ready)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Health returns an error if no model can be loaded.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := repository.New(repository.Options{})
		add(t, r, "a", &loader{errs: []error{errors.New("one")}})
		add(t, r, "b", &loader{errs: []error{errors.New("two")}})
		for _, name := range []string{"a", "b"} {
			if err := r.Health(); err != nil {
				t.Errorf("Health returns %v", err)
			}
			if err := r.Load(t.Context(), name); err == nil {
				t.Error("no error")
			}
		}
		if err := r.Health(); err == nil || err.Error() != "a: one\nb: two" {
			t.Errorf("Health returns %v", err)
		}
		if err := r.Unload(t.Context(), "a"); err != nil || r.Health() != nil { // forgets the failure
			t.Errorf("Unload returns %v, and Health %v", err, r.Health())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An explicit unload waits for the uses in progress. Later uses wait for its end.
func TestUnload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := repository.New(repository.Options{}), &loader{}
		m := add(t, r, "m", l)
		if err := r.Unload(t.Context(), "m"); err != nil { // it is not loaded
			t.Error(err)
		}
		release := use(t, m, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Unload(ctx, "m"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Unload of a model in use returns %v", err)
		}
		check(t, m, repository.Ready)
		time.AfterFunc(time.Minute, release)
		time.AfterFunc(time.Second, func() { check(t, m, repository.Unloading); use(t, m, 2)() })
		began := time.Now()
		if err := r.Unload(t.Context(), "m"); err != nil || time.Since(began) != time.Minute+time.Second || l.frees != 1 {
			t.Errorf("Unload returns %v after %v", err, time.Since(began))
		}
		time.Sleep(2 * time.Second)
		check(t, m, repository.Ready) // for the use that waited
		for _, err := range []error{r.Unload(t.Context(), "x"), r.Load(t.Context(), "x")} {
			if !errors.Is(err, repository.ErrName) {
				t.Errorf("an unknown model: %v", err)
			}
		}
		if _, err := repository.Add(r, "m", l.load); !errors.Is(err, repository.ErrTaken) {
			t.Errorf("two models with one name: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Close cancels a load, and ends the uses that wait for it.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, l := repository.New(repository.Options{}), &loader{}
		m, queued, busy := add(t, r, "m", l), add(t, r, "queued", &loader{}), add(t, r, "busy", &loader{})
		release := use(t, busy, 1)
		time.AfterFunc(time.Minute, release)
		for _, m := range []*repository.Model[int]{m, queued} {
			go func() {
				if _, _, err := m.Use(t.Context()); !errors.Is(err, repository.ErrClosed) {
					t.Errorf("Use returns %v", err)
				}
			}()
			synctest.Wait()
		}
		began := time.Now()
		if err := r.Close(); err != nil || l.loads != 0 {
			t.Errorf("Close returns %v; %d loads", err, l.loads)
		}
		if took := time.Since(began); took != time.Minute+time.Second { // of the busy model's use, and to free its memory
			t.Errorf("Close takes %v", took)
		}
		check(t, m, repository.Unloaded)
		check(t, queued, repository.Unloaded)
	})
}

// If the device has too little memory, the model that has been unused for the longest time is unloaded.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := fmt.Errorf("weights: %w", device.ErrMemory)
		r := repository.New(repository.Options{})
		a, b, c := add(t, r, "a", &loader{}), add(t, r, "b", &loader{}), add(t, r, "c", &loader{})
		l := &loader{errs: []error{full, full, nil, full}}
		m := add(t, r, "m", l)
		use(t, b, 1)()
		release := use(t, a, 1)
		use(t, c, 1)()
		use(t, b, 1)()
		use(t, m, 3)() // at the expense of c and b
		check(t, a, repository.Ready)
		check(t, b, repository.Unloaded)
		check(t, c, repository.Unloaded)
		if err := r.Unload(t.Context(), "m"); err != nil {
			t.Error(err)
		}
		if _, _, err := m.Use(t.Context()); !errors.Is(err, device.ErrMemory) { // a is in use
			t.Errorf("Use returns %v", err)
		}
		check(t, a, repository.Ready)
		release()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The Status has the error of an unload, which Unload and Close return too.
func TestUnloadError(t *testing.T) {
	r, stuck := repository.New(repository.Options{}), errors.New("stuck")
	m, err := repository.Add(r, "m", func(context.Context) (int, func() error, error) { return 1, func() error { return stuck }, nil })
	if err != nil {
		t.Fatal(err)
	}
	use(t, m, 1)()
	if err := r.Unload(t.Context(), "m"); !errors.Is(err, stuck) || !errors.Is(m.Status().Err, stuck) {
		t.Errorf("Unload returns %v; %+v", err, m.Status())
	}
	use(t, m, 1)()
	if list := r.List(); len(list) != 1 || list[0].Name != "m" || list[0].State != repository.Ready || list[0].Err != nil {
		t.Errorf("%+v", list)
	}
	if err := r.Close(); !errors.Is(err, stuck) {
		t.Errorf("Close returns %v", err)
	}
}

// A Model of Loaded is always ready.
func TestLoaded(t *testing.T) {
	m := repository.Loaded("value")
	if err := errors.Join(m.Load(t.Context()), m.Unload(t.Context())); err != nil {
		t.Error(err)
	}
	value, release, err := m.Use(t.Context())
	if err != nil || value != "value" {
		t.Errorf("Use returns %q, %v", value, err)
	}
	release()
	check(t, m, repository.Ready)
}

// Many goroutines use few models that are unloaded all the time. No model is loaded twice, or freed while it is used.
func TestStress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := repository.New(repository.Options{KeepAlive: time.Millisecond})
		models := make([]*repository.Model[*loader], 3)
		for i := range models {
			l := &loader{}
			var err error
			models[i], err = repository.Add(r, fmt.Sprint(i), func(ctx context.Context) (*loader, func() error, error) {
				_, free, err := l.load(ctx)
				return l, free, err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var users sync.WaitGroup
		for user := range 20 {
			users.Go(func() {
				for i := range 20 {
					m := models[(user+i)%len(models)]
					switch (user + i) % 5 {
					case 0:
						if err := m.Unload(t.Context()); err != nil {
							t.Error(err)
						}
					case 1:
						if _, release, ok := m.Peek(); ok {
							time.Sleep(time.Millisecond)
							release()
						}
					default:
						l, release, err := m.Use(t.Context())
						if err != nil {
							t.Error(err)
							continue
						}
						time.Sleep(time.Duration(user*i%7) * time.Millisecond)
						if !l.open {
							t.Error("a model was freed while it was used")
						}
						release()
					}
				}
			})
		}
		users.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// While a model is unloaded, the repository does not refer to it, so that a garbage collection frees what it has in Go's heap.
func TestUnloadedValue(t *testing.T) {
	r, collected := repository.New(repository.Options{}), make(chan struct{})
	_, err := repository.Add(r, "m", func(context.Context) (*[64]byte, func() error, error) {
		v := new([64]byte)
		runtime.AddCleanup(v, func(c chan struct{}) { close(c) }, collected)
		return v, func() error {
			runtime.GC()
			select {
			case <-collected:
				return nil
			case <-time.After(time.Minute):
				return errors.New("the model was not collected")
			}
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Load(t.Context(), "m"), r.Unload(t.Context(), "m"), r.Close()); err != nil {
		t.Error(err)
	}
}
