package llm

import "time"

// Usage is what the generation of a text took. It is complete when the text has ended.
type Usage struct {
	Prompt    int           // tokens of the prompt
	Known     int           // of those, tokens that the cache had from the text before
	Generated int           // tokens of the text, with the one that ended it
	First     time.Duration // until the first token of the text
	Rest      time.Duration // from the first token to the last
}

// Add adds the tokens of other texts. The times become the longest ones.
func (u *Usage) Add(x Usage) {
	u.Prompt, u.Known, u.Generated = u.Prompt+x.Prompt, u.Known+x.Known, u.Generated+x.Generated
	u.First, u.Rest = max(u.First, x.First), max(u.Rest, x.Rest)
}

// Rate returns the tokens per second after the first.
func (u Usage) Rate() float64 {
	if u.Generated < 2 || u.Rest <= 0 {
		return 0
	}
	return float64(u.Generated-1) / u.Rest.Seconds()
}

// String returns the name of the reason in OpenAI's API: "stop" or "length"; it is empty for an unfinished text.
func (f Finish) String() string {
	switch f {
	case Ended, Stopped:
		return "stop"
	case Limited, Full:
		return "length"
	}
	return ""
}
