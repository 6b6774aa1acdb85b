package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// errRoundEnded is returned to commands that end after their round.
var errRoundEnded = errors.New("the round has ended")

// recorder keeps the observations of one round without their raw output.
type recorder struct {
	mu    sync.Mutex
	obs   []check.Observation
	ended bool
}

// Record implements check.Recorder.
func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	o.Check, o.ID, o.At, o.Raw = node.Name, o.Target+"/"+o.Kind, o.At.UTC(), nil
	o.Command, o.Origin, o.Err, o.Figures = redact.String(o.Command), redact.String(o.Origin), redact.String(o.Err), redact.Bytes(o.Figures)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return o, errRoundEnded
	}
	r.obs = append(r.obs, o)
	return o, nil
}

// Progress implements check.Recorder.
func (r *recorder) Progress(string, ...any) {}

func (r *recorder) end() []check.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.obs
}

// observer runs the commands of a round.
type observer struct {
	gates []*node.LowLoad
	// round and host limit a round and the commands on one host.
	round, host time.Duration

	mu sync.Mutex
	// busy are the hosts with a command that has not ended, also of an earlier round.
	busy map[string]bool
	// slow are the hosts that were not observed completely in the last round: they are last in the
	// next one, so that they delay no others.
	slow map[string]bool
}

// job is one host with its gate.
type job struct {
	gate *node.LowLoad
	host string
}

func (o *observer) jobs() []job {
	o.mu.Lock()
	defer o.mu.Unlock()
	var first, last []job
	for _, g := range o.gates {
		for _, host := range g.Nodes() {
			if o.slow[host] {
				last = append(last, job{g, host})
			} else {
				first = append(first, job{g, host})
			}
		}
	}
	return append(first, last...)
}

// observe runs one round. It ends by its deadline, whatever a host does. missed has the reason of
// each host whose commands did not all run.
func (o *observer) observe(ctx context.Context) (obs []check.Observation, missed map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, o.round)
	defer cancel()
	rec := &recorder{}
	missed = map[string]string{}
	var mu sync.Mutex
	miss := func(host, reason string) {
		mu.Lock()
		defer mu.Unlock()
		missed[host] = reason
	}
	slots := make(chan struct{}, o.gates[0].Concurrency())
	var work sync.WaitGroup
	for _, j := range o.jobs() {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			miss(j.host, fmt.Sprintf("the round ended after %s, before its turn", o.round))
			continue
		}
		work.Go(func() {
			defer func() { <-slots }()
			if reason := o.observeHost(ctx, rec, j); reason != "" {
				miss(j.host, reason)
			}
		})
	}
	work.Wait()
	obs = rec.end()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.slow = map[string]bool{}
	for host := range missed {
		o.slow[host] = true
	}
	return obs, missed
}

// observeHost runs the commands on one host, and returns why they did not all run. It does not wait
// for a command that ignores its context.
func (o *observer) observeHost(ctx context.Context, rec check.Recorder, j job) (reason string) {
	if !o.start(j.host) {
		return "a command of an earlier round has not ended"
	}
	ctx, cancel := context.WithTimeout(ctx, o.host)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := j.gate.Observe(ctx, rec, j.host)
		o.ended(j.host) // before the round can end
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil && ctx.Err() != nil {
			return o.late()
		}
		if err != nil {
			return redact.String(err.Error())
		}
		return ""
	case <-ctx.Done():
		select {
		case err := <-done:
			if err == nil {
				return ""
			}
		default:
		}
		return o.late()
	}
}

func (o *observer) late() string {
	return fmt.Sprintf("its commands did not end within %s", o.host)
}

func (o *observer) start(host string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy[host] {
		return false
	}
	o.busy[host] = true
	return true
}

func (o *observer) ended(host string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.busy, host)
}
