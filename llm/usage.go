package llm

import "time"

// Usage has the numbers of tokens and the times of a text. It is complete when the text has ended.
type Usage struct {
	Prompt    int           // tokens of the prompt
	Known     int           // tokens of the prompt that were found in the cache
	Generated int           // tokens of the text, including the token that ended it
	Drafted   int           // guessed tokens: see Options.DraftTokens
	Accepted  int           // guessed tokens that were right
	Arrived   time.Time     // when the text arrived
	Queue     time.Duration // from the arrival until the computation of the text began
	First     time.Duration // from the arrival to the first token of the text
	Rest      time.Duration // from the first token to the last
}

// Add adds the numbers of tokens of x to those of u. It sets u.Arrived to the earlier of the two times, and each duration of u to the longer of the
// two durations.
func (u *Usage) Add(x Usage) {
	u.Prompt, u.Known, u.Generated = u.Prompt+x.Prompt, u.Known+x.Known, u.Generated+x.Generated
	u.Drafted, u.Accepted = u.Drafted+x.Drafted, u.Accepted+x.Accepted
	u.Queue, u.First, u.Rest = max(u.Queue, x.Queue), max(u.First, x.First), max(u.Rest, x.Rest)
	if u.Arrived.IsZero() || !x.Arrived.IsZero() && x.Arrived.Before(u.Arrived) {
		u.Arrived = x.Arrived
	}
}

// Rate returns the generated tokens per second, without the first token: (Generated-1) / Rest.
func (u Usage) Rate() float64 {
	if u.Generated < 2 || u.Rest <= 0 {
		return 0
	}
	return float64(u.Generated-1) / u.Rest.Seconds()
}

// String returns the name of the reason in OpenAI's API: "stop" or "length", or "" for Unfinished.
func (f Finish) String() string {
	switch f {
	case Ended, Stopped:
		return "stop"
	case Limited, Full:
		return "length"
	}
	return ""
}
