package vllm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

const (
	maxBody  = 8 << 20
	maxError = 400
)

// Client is a client of one server.
type Client struct {
	// Base is the address, such as "http://127.0.0.1:8000".
	Base string
	HTTP *http.Client
	Now  func() time.Time
}

// StatusError is a response with a status other than 200.
type StatusError struct {
	Status int
	Body   string
}

func (e *StatusError) Error() string {
	if e.Body == "" {
		return fmt.Sprintf("HTTP status %d", e.Status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.Status, e.Body)
}

// Health returns nil if the status of /health is 200.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.get(ctx, "/health")
	return err
}

// Metrics returns /metrics in Prometheus text format.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) { return c.get(ctx, "/metrics") }

// Models lists the model IDs of /v1/models.
func (c *Client) Models(ctx context.Context) (ids []string, raw []byte, err error) {
	raw, err = c.get(ctx, "/v1/models")
	if err != nil {
		return nil, raw, err
	}
	ids, err = ParseModels(raw)
	return ids, raw, err
}

// ParseModels parses the response of /v1/models.
func ParseModels(raw []byte) ([]string, error) {
	return guard.Parse("list of models", func() ([]string, error) { return parseModels(raw) })
}

func parseModels(raw []byte) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read list of models: %w", err)
	}
	var ids []string
	for _, m := range list.Data {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// Request is a completion request.
type Request struct {
	Model       string  `json:"model"`
	Prompt      string  `json:"prompt"`
	MaxTokens   int     `json:"max_tokens"`
	Temperature float64 `json:"temperature"`
	// IgnoreEOS generates exactly MaxTokens tokens.
	IgnoreEOS bool           `json:"ignore_eos,omitempty"`
	Seed      *int64         `json:"seed,omitempty"`
	Stream    bool           `json:"stream,omitempty"`
	Options   *streamOptions `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Completion is a complete response.
type Completion struct {
	Text   string
	Reason string
	Tokens int
}

// Complete requests a completion without streaming.
func (c *Client) Complete(ctx context.Context, r Request) (answer Completion, raw []byte, err error) {
	r.Stream, r.Options = false, nil
	resp, err := c.post(ctx, "/v1/completions", r)
	if err != nil {
		return Completion{}, nil, err
	}
	defer closeBody(resp)
	raw, err = readBody(resp)
	if err != nil {
		return Completion{}, raw, err
	}
	answer, err = ParseCompletion(raw)
	return answer, raw, err
}

// ParseCompletion parses the response of /v1/completions.
func ParseCompletion(raw []byte) (Completion, error) {
	return guard.Parse("completion", func() (Completion, error) { return parseCompletion(raw) })
}

func parseCompletion(raw []byte) (Completion, error) {
	var p chunk
	if err := json.Unmarshal(raw, &p); err != nil {
		return Completion{}, fmt.Errorf("read completion: %w", err)
	}
	if err := p.failure(); err != nil {
		return Completion{}, err
	}
	if len(p.Choices) == 0 {
		return Completion{}, errors.New("read completion: no choices")
	}
	answer := Completion{Text: p.Choices[0].content(), Reason: p.Choices[0].Reason}
	if p.Usage != nil {
		answer.Tokens = p.Usage.CompletionTokens
	}
	return answer, nil
}

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("create request %s: %w", path, err)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	defer closeBody(resp)
	return readBody(resp)
}

func (c *Client) post(ctx context.Context, path string, r Request) (*http.Response, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("create request %s: %w", path, err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("POST %s: %w", path, err)
	}
	return resp, nil
}

// readBody reads a response; a status other than 200 is a StatusError.
func readBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if resp.StatusCode != http.StatusOK {
		return body, &StatusError{Status: resp.StatusCode, Body: clipResponse(string(body))}
	}
	if err != nil {
		return body, fmt.Errorf("read response: %w", err)
	}
	if len(body) > maxBody {
		return body[:maxBody], fmt.Errorf("read response: longer than %d bytes", maxBody)
	}
	return body, nil
}

func closeBody(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxError) // so that the connection is reused
	_ = resp.Body.Close()
}

func clipResponse(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "?")
	if len(s) > maxError {
		s = s[:maxError]
	}
	return s
}
