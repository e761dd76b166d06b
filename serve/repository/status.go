package repository

import (
	"errors"
	"fmt"
	"time"
)

// State is the state of a model.
type State int

// The states of a model.
const (
	Unloaded State = iota
	Loading
	Ready
	Unloading
	Failed // the last load failed
)

// States returns all states.
func States() []State { return []State{Unloaded, Loading, Ready, Unloading, Failed} }

// String returns the name of the state, in lower case.
func (s State) String() string {
	return [...]string{"unloaded", "loading", "ready", "unloading", "failed"}[s]
}

// Status describes a model.
type Status struct {
	Name     string
	State    State
	Err      error         // of the last load, if the state is Failed, or of the last unload
	Took     time.Duration // the time of the last load that succeeded
	Waiting  int           // calls of Use that wait
	Loads    int64         // loads that succeeded
	Failures int64         // loads that failed
}

// Errors of the package.
var (
	// ErrName means that the Repository has no model with the name.
	ErrName = errors.New("repository: no such model")
	// ErrTaken means that the Repository already has a model with the name.
	ErrTaken   = errors.New("repository: the name is taken")
	ErrClosed  = errors.New("repository: closed")
	ErrLoading = errors.New("the model is not ready yet")
)

// A LoadError is the error of a model that could not be loaded.
type LoadError struct {
	Name  string
	Retry time.Duration // the time after which the model may be loaded again
	Err   error
}

// Error implements error.
func (e *LoadError) Error() string {
	return fmt.Sprintf("the model %q cannot be loaded: %v", e.Name, e.Err)
}

// Unwrap returns the error of the load.
func (e *LoadError) Unwrap() error { return e.Err }
