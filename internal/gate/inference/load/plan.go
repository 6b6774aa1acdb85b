package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// Plan is the load: everything that the result depends on.
type Plan struct {
	// URL of the server, such as "http://inference.firstlight-r1.svc:8000".
	URL   string `json:"url"`
	Model string `json:"model"`
	// Prompt has the words that fill the prompts.
	Prompt        string  `json:"prompt"`
	RatePerSecond float64 `json:"ratePerSecond"`
	// Concurrency is the maximum number of requests at a time; 0: no limit, an open loop.
	Concurrency  int `json:"concurrency"`
	Requests     int `json:"requests"`
	Warmup       int `json:"warmup"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	// ReachSeconds is how long the server's /health is waited for before the load; 0: it is not
	// requested.
	ReachSeconds float64 `json:"reachSeconds"`
	// TimeoutSeconds limits the load; requests without an answer by then have timed out.
	TimeoutSeconds float64 `json:"timeoutSeconds"`
}

// ParsePlan parses the JSON of a plan that is passed to a process.
func ParsePlan(text string) (Plan, error) {
	p, err := guard.Parse("plan of the load", func() (p Plan, err error) {
		in := json.NewDecoder(strings.NewReader(text))
		in.DisallowUnknownFields()
		err = in.Decode(&p)
		return p, err
	})
	if err != nil {
		return Plan{}, fmt.Errorf("invalid plan: %w", err)
	}
	return p, p.validate()
}

func (p Plan) validate() error {
	var problems []error
	if p.URL == "" || p.Model == "" || p.Prompt == "" {
		problems = append(problems, errors.New("invalid plan: url, model and prompt must be set"))
	}
	if p.RatePerSecond <= 0 || p.Requests < 1 || p.InputTokens < 1 || p.OutputTokens < 1 || p.TimeoutSeconds <= 0 {
		problems = append(problems, errors.New("invalid plan: ratePerSecond, requests, inputTokens, outputTokens and timeoutSeconds must be more than zero"))
	}
	if p.Concurrency < 0 || p.Warmup < 0 || p.ReachSeconds < 0 {
		problems = append(problems, errors.New("invalid plan: concurrency, warmup and reachSeconds must not be negative"))
	}
	return errors.Join(problems...)
}

// JSON is the plan as ParsePlan reads it.
func (p Plan) JSON() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode plan: %w", err)
	}
	return string(text), nil
}

// Digest identifies the plan.
func (p Plan) Digest() (string, error) {
	text, err := p.JSON()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// request has a unique prompt, so that no cache answers it.
func (p Plan) request(what string, n int) vllm.Request {
	words := []string{what, fmt.Sprint(n)}
	filler := strings.Fields(p.Prompt)
	for i := 0; len(words) < p.InputTokens && len(filler) > 0; i++ {
		words = append(words, filler[(i+n)%len(filler)])
	}
	return vllm.Request{Model: p.Model, Prompt: strings.Join(words, " "), MaxTokens: p.OutputTokens, IgnoreEOS: true}
}
