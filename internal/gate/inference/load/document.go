package load

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// format is the first key of each line of a document: a log has other lines, too.
const format = "firstlight-load/1"

// The kinds of lines, in their order.
const (
	kindBegin    = "begin"
	kindWarmup   = "warmup"
	kindRequest  = "request"
	kindFigures  = "figures"
	kindEnd      = "end"
	maxLineBytes = 1 << 20
)

// line is one line of a document. A request has a line of its own: container runtimes split long
// lines.
type line struct {
	Format string    `json:"format"`
	Kind   string    `json:"kind"`
	At     time.Time `json:"at"`
	// Plan and Digest are those of the load (begin). The digest of the end is that of all lines
	// before it.
	Plan    *Plan    `json:"plan,omitempty"`
	Digest  string   `json:"digest,omitempty"`
	N       int      `json:"n"` // index of a request; of the end, the number of lines before it
	Request *Request `json:"request,omitempty"`
	// Figures lack the requests.
	Figures *Figures `json:"figures,omitempty"`
}

// Write writes the document of a load that ran from began to ended.
func Write(out io.Writer, p Plan, f Figures, began, ended time.Time) error {
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	w := &writer{out: out, sum: sha256.New()}
	w.write(line{Kind: kindBegin, At: began, Plan: &p, Digest: digest})
	for i := range f.WarmupRequests {
		w.write(line{Kind: kindWarmup, At: began, N: i, Request: &f.WarmupRequests[i]})
	}
	for i := range f.Requests {
		w.write(line{Kind: kindRequest, At: began, N: i, Request: &f.Requests[i]})
	}
	rest := f
	rest.Requests, rest.WarmupRequests = nil, nil
	w.write(line{Kind: kindFigures, At: ended, Figures: &rest})
	w.write(line{Kind: kindEnd, At: ended, N: w.lines, Digest: sumOf(w.sum)})
	return w.err
}

type writer struct {
	out   io.Writer
	sum   hash.Hash
	lines int
	err   error
}

func (w *writer) write(l line) {
	if w.err != nil {
		return
	}
	l.Format, l.At = format, l.At.UTC()
	text, err := json.Marshal(l)
	if err != nil {
		w.err = fmt.Errorf("encode result of the load: %w", err)
		return
	}
	text = append(text, '\n')
	w.lines++
	w.sum.Write(text)
	if _, err := w.out.Write(text); err != nil {
		w.err = fmt.Errorf("write result of the load: %w", err)
	}
}

func sumOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// Read reads the document in a log. It returns an error unless there is exactly one, whole and
// unchanged, of this plan, with possible times.
func Read(log []byte, p Plan) (Figures, error) {
	r := &reader{sum: sha256.New()}
	in := bufio.NewScanner(bytes.NewReader(log))
	in.Buffer(make([]byte, 0, 4096), maxLineBytes)
	for in.Scan() {
		if !bytes.HasPrefix(in.Bytes(), []byte(`{"format":"`+format+`"`)) {
			continue
		}
		if err := r.read(in.Bytes(), p); err != nil {
			return Figures{}, fmt.Errorf("invalid result of the load: line %d: %w", r.lines+1, err)
		}
	}
	if err := in.Err(); err != nil {
		return Figures{}, fmt.Errorf("read the log of the load: %w", err)
	}
	switch {
	case r.lines == 0:
		return Figures{}, errors.New("the log of the load has no result")
	case !r.ended:
		return Figures{}, fmt.Errorf("the result of the load is incomplete: it ends after line %d (%s)", r.lines, r.kind)
	}
	return r.f, r.times()
}

// reader has what was read of a document.
type reader struct {
	f            Figures
	sum          hash.Hash
	lines        int
	kind         string // of the last line
	began, ended bool
	from, to     time.Time
	warmup, sent []Request
}

func (r *reader) read(text []byte, p Plan) error {
	l, err := guard.Parse("line of the load's result", func() (l line, err error) {
		in := json.NewDecoder(bytes.NewReader(text))
		in.DisallowUnknownFields()
		err = in.Decode(&l)
		return l, err
	})
	if err != nil {
		return err
	}
	if r.ended {
		return errors.New("the log has a second result")
	}
	if (l.Kind == kindBegin) == r.began {
		return fmt.Errorf("unexpected %s", l.Kind)
	}
	if l.Kind == kindEnd {
		return r.end(l)
	}
	r.sum.Write(text)
	r.sum.Write([]byte{'\n'})
	r.lines++
	r.kind = l.Kind
	switch l.Kind {
	case kindBegin:
		r.began, r.from = true, l.At
		return samePlan(l, p)
	case kindWarmup:
		return add(&r.warmup, l)
	case kindRequest:
		return add(&r.sent, l)
	case kindFigures:
		if l.Figures == nil {
			return errors.New("no figures")
		}
		r.f = *l.Figures
		return nil
	default:
		return fmt.Errorf("unknown kind %q", l.Kind)
	}
}

// samePlan requires that the load is that of a plan.
func samePlan(l line, p Plan) error {
	if l.Plan == nil {
		return errors.New("no plan")
	}
	want, err := p.Digest()
	if err != nil {
		return err
	}
	if got, err := l.Plan.Digest(); err != nil || got != want || l.Digest != want {
		return errors.Join(fmt.Errorf("the load is of plan %s, want %s", l.Digest, want), err)
	}
	return nil
}

// add appends the request of a line, which must be the next one.
func add(to *[]Request, l line) error {
	if l.Request == nil || l.N != len(*to) {
		return fmt.Errorf("request %d where %d was expected", l.N, len(*to))
	}
	*to = append(*to, *l.Request)
	return nil
}

func (r *reader) end(l line) error {
	if r.kind != kindFigures {
		return errors.New("it ends without figures")
	}
	if got := sumOf(r.sum); l.N != r.lines || l.Digest != got {
		return fmt.Errorf("it has %d lines with digest %s, want %d with %s: lines are lost or changed", r.lines, got, l.N, l.Digest)
	}
	r.ended, r.to = true, l.At
	r.f.WarmupRequests, r.f.Requests = r.warmup, r.sent
	if r.f.Requests == nil {
		r.f.Requests = []Request{}
	}
	return nil
}

// timeSlack is the tolerance between the wall clock and the monotonic one, which may be set apart.
const timeSlack = time.Second

// times requires that the load lasted no longer than the process, and as long as its last request.
func (r *reader) times() error {
	took := seconds(r.f.Seconds)
	if wall := r.to.Sub(r.from); took > wall+timeSlack {
		return fmt.Errorf("invalid result of the load: it took %s, and its process only %s", took, wall)
	}
	for i, q := range r.f.Requests {
		if q.Sent > Milliseconds(took)+Milliseconds(timeSlack) {
			return fmt.Errorf("invalid result of the load: request %d was sent after %.0f ms of %s", i, q.Sent, took)
		}
		if q.E2E != nil && q.Sent+*q.E2E > Milliseconds(took)+Milliseconds(timeSlack) {
			return fmt.Errorf("invalid result of the load: request %d was answered after %.0f ms of %s", i, q.Sent+*q.E2E, took)
		}
	}
	return nil
}
