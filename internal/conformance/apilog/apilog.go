// Package apilog records the API calls of a conformance check: evidence is what was sent
// to the API server and what it answered, not a paraphrase.
//
// Headers and bodies are left out: headers hold tokens, bodies may hold Secrets. A check
// records what it needs of a body itself.
package apilog

import (
	"cmp"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/check"
)

// Kind of the observation that holds a check's calls: []Call.
const Kind = "api-calls"

// Call is one request and its answer.
type Call struct {
	At time.Time `json:"at"`
	// Method, Path and Query are as sent.
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Status is the HTTP status; 0 when there was no answer, for the reason in Err.
	Status int    `json:"status"`
	Err    string `json:"err,omitempty"`
	// Times counts consecutive equal calls with equal answers.
	Times int `json:"times"`
}

// Log holds calls in their order. Its methods are safe for concurrent use.
type Log struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	calls []Call
}

// New returns an empty log; a nil clock is the real one.
func New(c clock.PassiveClock) *Log {
	c = cmp.Or[clock.PassiveClock](c, clock.RealClock{})
	return &Log{clock: c}
}

// Wrap copies a configuration so that its clients add their calls to the log.
func (l *Log) Wrap(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{log: l, next: next} })
	return cfg
}

// Calls copies the calls so far.
func (l *Log) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Call(nil), l.calls...)
}

// Record stores the calls so far as one observation of the target.
func (l *Log) Record(rec check.Recorder, target string) error {
	calls := l.Calls()
	o := check.Observation{Kind: Kind, Target: target, Command: "every call to the API server of this check", At: l.clock.Now()}
	if len(calls) > 0 {
		o.At = calls[0].At
		o.Took = metav1.Duration{Duration: l.clock.Since(o.At)}
	}
	o, err := o.WithFigures(calls)
	if err != nil {
		return err
	}
	_, err = rec.Record(o)
	return err
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

type transport struct {
	log  *Log
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := Call{At: t.log.clock.Now().UTC(), Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		c.Err = err.Error()
	} else {
		c.Status = resp.StatusCode
	}
	t.log.add(c)
	return resp, err
}

// WrappedRoundTripper lets client-go find the transport below, for streams.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }
