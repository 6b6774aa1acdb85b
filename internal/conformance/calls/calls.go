// Package calls records the API calls that a conformance check makes: evidence is
// what was asked of the API server and what it answered, never a paraphrase.
//
// Headers and bodies are not kept: tokens are in the one, Secrets may be in the
// other. What a body says that matters, a check records itself.
package calls

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
)

// Kind of the observation that holds a check's calls.
const Kind = "api-calls"

// Call is one request and its answer.
type Call struct {
	At time.Time `json:"at"`
	// Method, Path and Query are as they were sent.
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Status is the answer's HTTP status; 0 when there was none, and Err says why.
	Status int    `json:"status"`
	Err    string `json:"err,omitempty"`
	// Times is how often the same was asked with the same answer, one after the other.
	Times int `json:"times"`
}

// Log is what was called, in order. Its methods may be called from many goroutines.
type Log struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	calls []Call
}

// NewLog is empty; a nil clock is the real one.
func NewLog(c clock.PassiveClock) *Log {
	if c == nil {
		c = clock.RealClock{}
	}
	return &Log{clock: c}
}

// Record is a configuration whose clients write down what they call.
func (l *Log) Record(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &recorder{log: l, next: next} })
	return cfg
}

// Calls are those so far.
func (l *Log) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Call(nil), l.calls...)
}

// Keep records the calls so far as one observation of the target.
func (l *Log) Keep(rec check.Recorder, target string) error {
	made := l.Calls()
	o := check.Observation{Kind: Kind, Target: target, Command: "every call to the API server of this check", At: l.clock.Now()}
	if len(made) > 0 {
		o.At = made[0].At
		o.Took.Duration = l.clock.Since(o.At)
	}
	o, err := o.WithFigures(made)
	if err != nil {
		return err //nolint:wrapcheck // says what it encodes
	}
	_, err = rec.Record(o)
	return err //nolint:wrapcheck // the store's own words
}

func (l *Log) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.calls); n > 0 {
		last := &l.calls[n-1]
		if last.Method == c.Method && last.Path == c.Path && last.Query == c.Query && last.Status == c.Status && last.Err == c.Err {
			last.Times++
			return
		}
	}
	c.Times = 1
	l.calls = append(l.calls, c)
}

// recorder writes down what goes through it.
type recorder struct {
	log  *Log
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	c := Call{At: r.log.clock.Now().UTC(), Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		c.Err = err.Error()
	} else {
		c.Status = resp.StatusCode
	}
	r.log.add(c)
	return resp, err
}

// WrappedRoundTripper lets client-go find what is below, for streams.
func (r *recorder) WrappedRoundTripper() http.RoundTripper { return r.next }
