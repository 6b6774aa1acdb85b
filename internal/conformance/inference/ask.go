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
	// answerWithin bounds one request.
	answerWithin = 10 * time.Second
	// maxAnswer bounds how much of an answer is read: a list of models is short.
	maxAnswer = 64 << 10
	// settleWithin bounds how long a gateway may take from its status to doing so, and
	// inARow is how often it must have done so by then.
	settleWithin = time.Minute
	inARow       = 5
)

// get asks once.
func (t *trying) get(ctx context.Context, client *http.Client, url string, headers map[string]string) answer {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
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
		a.Err = "read the answer: " + err.Error()
		return a
	}
	if a.Status == http.StatusOK {
		a.Model = modelOf(raw)
	}
	return a
}

// modelOf is the one model that an answer names; empty when it names none or several.
func modelOf(raw []byte) string {
	models, err := vllm.ParseModels(raw)
	if err != nil || len(models) != 1 {
		return ""
	}
	return models[0]
}

// kindOfRequest is one that is sent several times.
type kindOfRequest struct {
	target, path string
	headers      map[string]string
	times        int
}

func (t *trying) kinds() []kindOfRequest {
	return []kindOfRequest{
		{target: toWeights, path: modelsPath, times: t.figures.Requests},
		{target: toHeader, path: modelsPath, times: t.figures.Repeats, headers: map[string]string{t.figures.Header: served(second)}},
		{target: toNowhere, path: nowherePath, times: t.figures.Repeats},
		{target: toNoRoute, path: noRoutePath, times: t.figures.Repeats},
	}
}

// good says that an answer is one that a request of a kind may have.
func good(target string, a answer) bool {
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

// ask finds the way to the gateway and sends every kind of request.
func (t *trying) ask(ctx context.Context, gw gateway) error {
	client := newClient()
	defer client.CloseIdleConnections()
	n := t.rec.Begin(kindWay, gw.Name, fmt.Sprintf("GET %s on each address of the gateway, then through port forwards to its pods; then every kind of request until each is answered as it is to be %d times in a row", noRoutePath, inARow))
	base, leave, found := t.reach(ctx, client, gw)
	defer leave()
	if base == "" {
		return errors.Join(n.Keep(found, nil), ctx.Err())
	}
	t.rec.Progress("asking the gateway through %s", found.Through)
	found.Settled = t.settle(ctx, client, base)
	if err := errors.Join(n.Keep(found, nil), ctx.Err()); err != nil {
		return err
	}
	for _, k := range t.kinds() {
		n := t.rec.Begin(kindRequests, k.target, fmt.Sprintf("GET %s %d times", k.path, k.times))
		seen := requests{Method: http.MethodGet, Path: k.path, Headers: k.headers, Answers: []answer{}}
		for range k.times {
			seen.Answers = append(seen.Answers, t.get(ctx, client, base+k.path, k.headers))
			if ctx.Err() != nil {
				break
			}
		}
		if err := errors.Join(n.Keep(seen, nil), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until the gateway does what its status says.
func (t *trying) settle(ctx context.Context, client *http.Client, base string) bool {
	row := 0
	settled, err := await(ctx, min(settleWithin, t.deps.Patience), func(ctx context.Context) (bool, error) {
		for row < inARow {
			for _, k := range t.kinds() {
				if !good(k.target, t.get(ctx, client, base+k.path, k.headers)) {
					row = 0
					return false, nil
				}
			}
			row++
		}
		return true, nil
	}, func(settled bool) bool { return settled })
	return err == nil && settled
}
