package rendezvous

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of a job. Match them with errors.Is.
var (
	ErrMissing = errors.New("ranks are missing")
	ErrLost    = errors.New("ranks were lost")
	ErrJob     = errors.New("processes do not agree about the job")
)

// MissingError is the error of Join if processes did not join in time. It matches ErrMissing.
type MissingError struct {
	Ranks []int // nil if rank 0 could not be reached
	World int
	After time.Duration
	Err   error // of the last attempt to reach rank 0, or the context's
}

// Error names the ranks.
func (e *MissingError) Error() string {
	if len(e.Ranks) == 1 && e.Ranks[0] == 0 {
		return fmt.Sprintf("rendezvous: rank 0 of %d could not be reached for %v: %v", e.World, e.After.Round(time.Millisecond), e.Err)
	}
	return fmt.Sprintf("rendezvous: %s of %d did not join within %v", Ranks(e.Ranks), e.World, e.After.Round(time.Millisecond))
}

// Is reports whether target is ErrMissing.
func (e *MissingError) Is(target error) bool { return target == ErrMissing }

// Unwrap returns the cause.
func (e *MissingError) Unwrap() error { return e.Err }

// LostError is the error for processes that ended without leaving the job. It matches ErrLost.
type LostError struct {
	Ranks []int
}

// Error names the ranks.
func (e *LostError) Error() string {
	return fmt.Sprintf("rendezvous: %s ended without leaving the job", Ranks(e.Ranks))
}

// Is reports whether target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// Ranks formats ranks: "rank 3", "ranks 1, 2".
func Ranks(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	return "ranks " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ranks)), ", "), "[]")
}
