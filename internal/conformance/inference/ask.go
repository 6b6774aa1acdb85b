package inference

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

const (
	// requestTimeout limits one request.
	requestTimeout = 10 * time.Second
	// maxAnswer limits how much of an answer is read: a list of models is short.
	maxAnswer = 64 << 10
	// settleTimeout limits how long a gateway may take from its status to routing accordingly,
	// which it must do settleRounds times in a row.
	settleTimeout = time.Minute
	settleRounds  = 5
)

// get sends one request.
func (t *trial) get(ctx context.Context, client *http.Client, url string, headers map[string]string) answer {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	a := answer{At: t.deps.Clock.Now().UTC()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		a.Err = err.Error()
		return a
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		a.Err = err.Error()
		return a
	}
	defer resp.Body.Close()
	a.Status = resp.StatusCode
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		a.Err = "read answer: " + err.Error()
		return a
	}
	if a.Status == http.StatusOK {
		a.Model = modelOf(raw)
	}
	return a
}

// modelOf is the only model of an answer; empty without one, or with several.
func modelOf(raw []byte) string {
	models, err := vllm.ParseModels(raw)
	if err != nil || len(models) != 1 {
		return ""
	}
	return models[0]
}

// requestKind is a request that is sent several times.
type requestKind struct {
	target, path string
	headers      map[string]string
	times        int
}

func (t *trial) kinds() []requestKind {
	return []requestKind{
		{target: toWeights, path: modelsPath, times: t.figures.Requests},
		{target: toHeader, path: modelsPath, times: t.figures.Repeats, headers: map[string]string{t.figures.Header: served(second)}},
		{target: toNowhere, path: nowherePath, times: t.figures.Repeats},
		{target: toNoRoute, path: noRoutePath, times: t.figures.Repeats},
	}
}

// expected reports whether an answer is valid for requests of a target.
func expected(target string, a answer) bool {
	switch target {
	case toWeights:
		return a.Status == http.StatusOK && (a.Model == served(first) || a.Model == served(second))
	case toHeader:
		return a.Status == http.StatusOK && a.Model == served(second)
	case toNowhere:
		return a.Status >= http.StatusInternalServerError
	case toNoRoute:
		return a.Status == http.StatusNotFound
	}
	return false
}

// sendRequests finds a path to the gateway and sends every kind of request.
func (t *trial) sendRequests(ctx context.Context, gw gateway) error {
	client := newClient()
	defer client.CloseIdleConnections()
	attempt := t.rec.Begin(kindPath, gw.Name, fmt.Sprintf("GET %s on each address of the gateway, then through port forwards to its pods; then every kind of request until each gets its expected answer %d times in a row", noRoutePath, settleRounds))
	base, stop, found := t.reach(ctx, client, gw)
	defer stop()
	if base == "" {
		return errors.Join(attempt.Record(found, nil), ctx.Err())
	}
	t.rec.Progress("sending requests to the gateway through %s", found.Through)
	found.Settled, found.Rounds = t.settle(ctx, client, base)
	if err := errors.Join(attempt.Record(found, nil), ctx.Err()); err != nil {
		return err
	}
	for _, k := range t.kinds() {
		attempt := t.rec.Begin(kindRequests, k.target, fmt.Sprintf("GET %s %d times", k.path, k.times))
		sent := requests{Method: http.MethodGet, Path: k.path, Headers: k.headers, Answers: []answer{}}
		for range k.times {
			sent.Answers = append(sent.Answers, t.get(ctx, client, base+k.path, k.headers))
			if ctx.Err() != nil {
				break
			}
		}
		if err := errors.Join(attempt.Record(sent, nil), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the gateway routes as its status says, and returns how many rounds of
// requests it sent.
func (t *trial) settle(ctx context.Context, client *http.Client, base string) (settled bool, sent int) {
	rounds := 0
	settled, err := await(ctx, min(settleTimeout, t.deps.Timeout), func(ctx context.Context) (bool, error) {
		for rounds < settleRounds {
			sent++
			for _, k := range t.kinds() {
				if !expected(k.target, t.get(ctx, client, base+k.path, k.headers)) {
					rounds = 0
					return false, nil
				}
			}
			rounds++
		}
		return true, nil
	}, func(settled bool) bool { return settled })
	return err == nil && settled, sent
}
