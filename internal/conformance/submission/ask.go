package submission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

// Doer is what asks; an *http.Client is one.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// ask is an address that should answer, with where it stands.
type ask struct {
	at      diag.Pos
	address string
	of      string
}

const (
	askAtOnce  = 8
	askTimeout = 30 * time.Second
)

// askAll asks every address once, and whether the vendor is a member.
func (v *validation) askAll(ctx context.Context, o Options) error {
	if o.Client == nil {
		for _, a := range v.asks {
			v.unchecked(a.of+": "+shown(a.address), "no address is asked offline")
		}
		if v.vendor != "" {
			v.unchecked("whether "+v.vendor+" is a member of the CNCF", "no address is asked offline")
		}
		return nil
	}
	answers := answersOf(ctx, o.Client, v.asks)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask the addresses of the submission: %w", err)
	}
	for _, a := range v.asks {
		if err := answers[a.address]; err != nil {
			v.add(ruleURL.At(a.at, "%s: %s: %v", a.of, shown(a.address), err))
		}
	}
	return v.member(ctx, o)
}

func (v *validation) unchecked(what, why string) {
	u := Unchecked{What: what, Why: why}
	if !slices.Contains(v.report.Unchecked, u) {
		v.report.Unchecked = append(v.report.Unchecked, u)
	}
}

// answersOf asks a few at a time; nil is an answer.
func answersOf(ctx context.Context, client Doer, asks []ask) map[string]error {
	answers := map[string]error{}
	for _, a := range asks {
		answers[a.address] = nil
	}
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		slots = make(chan struct{}, askAtOnce)
	)
	addresses := make([]string, 0, len(answers))
	for address := range answers {
		addresses = append(addresses, address)
	}
	for _, address := range addresses {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			err := answersTo(ctx, client, address)
			mu.Lock()
			defer mu.Unlock()
			answers[address] = err
		})
	}
	all.Wait()
	return answers
}

// answersTo asks with HEAD, and with GET where a server does not know that.
func answersTo(ctx context.Context, client Doer, address string) error {
	if status, err := request(ctx, client, http.MethodHead, address, nil); err == nil && answered(status) {
		return nil
	}
	status, err := request(ctx, client, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if !answered(status) {
		return fmt.Errorf("it answers %d %s", status, http.StatusText(status))
	}
	return nil
}

// answered says whether there is something: too many requests is no absence.
func answered(status int) bool {
	return status < http.StatusBadRequest || status == http.StatusTooManyRequests
}

// request asks once, and reads the body into body where that is wanted.
func request(ctx context.Context, client Doer, method, address string, body func(io.Reader) error) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return 0, withoutAddress(err)
	}
	req.Header.Set("User-Agent", "firstlight (it checks the links of a conformance submission)")
	req.Header.Set("Accept", "*/*")
	resp, err := client.Do(req)
	if err != nil {
		return 0, withoutAddress(err)
	}
	defer resp.Body.Close()
	if body != nil {
		err = body(resp.Body)
	}
	return resp.StatusCode, err
}

// withoutAddress leaves out what the caller says already.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// shown is an address without what may be secret in it.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return strings.ToValidUTF8(address, "?")
	}
	return u.Redacted()
}
