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

// Doer sends a request; *http.Client implements it.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}

// link is a URL in the submission that must answer, with its position.
type link struct {
	at      diag.Pos
	address string
	of      string // for messages: "evidence of gang_scheduling"
}

const (
	maxRequests    = 8 // in parallel
	requestTimeout = 30 * time.Second
)

// checkLinks requests every URL once, and looks up the vendor in the list of members.
func (v *validation) checkLinks(ctx context.Context, o Options) error {
	if o.Client == nil {
		for _, a := range v.links {
			v.unchecked(a.of+": "+redacted(a.address), "offline")
		}
		if v.vendor != "" {
			v.unchecked("whether "+v.vendor+" is a member of the CNCF", "offline")
		}
		return nil
	}
	errs := requestAll(ctx, o.Client, v.links)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("request the URLs of the submission: %w", err)
	}
	for _, a := range v.links {
		if err := errs[a.address]; err != nil {
			v.add(ruleURL.At(a.at, "%s: %s: %v", a.of, redacted(a.address), err))
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

// requestAll requests every URL and returns the error of each, nil for an answer.
func requestAll(ctx context.Context, client Doer, links []link) map[string]error {
	errs := map[string]error{}
	for _, l := range links {
		errs[l.address] = nil
	}
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		slots = make(chan struct{}, maxRequests)
	)
	addresses := make([]string, 0, len(errs))
	for address := range errs {
		addresses = append(addresses, address)
	}
	for _, address := range addresses {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			err := requestOne(ctx, client, address)
			mu.Lock()
			defer mu.Unlock()
			errs[address] = err
		})
	}
	all.Wait()
	return errs
}

// requestOne sends HEAD, and GET if that fails: some servers do not implement HEAD.
func requestOne(ctx context.Context, client Doer, address string) error {
	if status, err := request(ctx, client, http.MethodHead, address, nil); err == nil && answered(status) {
		return nil
	}
	status, err := request(ctx, client, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if !answered(status) {
		return fmt.Errorf("status %d %s", status, http.StatusText(status))
	}
	return nil
}

// answered counts 429 as an answer: the page exists.
func answered(status int) bool {
	return status < http.StatusBadRequest || status == http.StatusTooManyRequests
}

// request sends one request, and passes the response body to body unless that is nil.
func request(ctx context.Context, client Doer, method, address string, body func(io.Reader) error) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return 0, withoutAddress(err)
	}
	req.Header.Set("User-Agent", "firstlight (link check of a conformance submission)")
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

// withoutAddress removes the URL, which the caller's message has.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// redacted removes the password of a URL.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return strings.ToValidUTF8(address, "?")
	}
	return u.Redacted()
}
