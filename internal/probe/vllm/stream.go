package vllm

import (
	"bufio"
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
	maxEvent  = 1 << 20
	maxChunks = 1 << 20
)

// ErrTruncated is returned for a stream that ends without "[DONE]".
var ErrTruncated = errors.New("the stream ended before [DONE]")

// Stream is a streamed response. All times are relative to the request.
type Stream struct {
	// First and Last are the times of the first and last chunk. A token can have no text, for
	// example half of a character.
	First, Last time.Duration
	// Gaps are the times between chunks.
	Gaps []time.Duration
	// Tokens is the number of generated tokens: the usage that the server reports if FromUsage
	// is set, otherwise the number of chunks with text.
	Tokens    int
	FromUsage bool
	Text      string
}

// TPOT is the time per output token after the first; 0 with fewer than two tokens.
func (s Stream) TPOT() time.Duration {
	if s.Tokens < 2 {
		return 0
	}
	return (s.Last - s.First) / time.Duration(s.Tokens-1)
}

// Stream requests a streamed completion.
func (c *Client) Stream(ctx context.Context, r Request) (Stream, error) {
	r.Stream, r.Options = true, &streamOptions{IncludeUsage: true}
	sent := c.Now()
	resp, err := c.post(ctx, "/v1/completions", r)
	if err != nil {
		return Stream{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		_, err := readBody(resp)
		return Stream{}, err
	}
	s, err := ParseStream(resp.Body, func() time.Duration { return c.Now().Sub(sent) })
	if err == nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxError) // so that the connection is reused
	}
	return s, err
}

// ParseStream parses server-sent events; elapsed returns the time since the request.
func ParseStream(r io.Reader, elapsed func() time.Duration) (Stream, error) {
	return guard.Parse("stream", func() (Stream, error) { return parseStream(r, elapsed) })
}

func parseStream(r io.Reader, elapsed func() time.Duration) (Stream, error) {
	var s Stream
	var text strings.Builder
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxEvent)
	chunks, withText := 0, 0
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data:")
		if !ok {
			continue // blank lines, comments, event names
		}
		data = strings.TrimSpace(data)
		if data == "[DONE]" {
			s.Text = text.String()
			if !s.FromUsage {
				s.Tokens = withText
			}
			return s, nil
		}
		var p chunk
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			return s, fmt.Errorf("read chunk %.80q of the stream: %w", data, err)
		}
		if err := p.failure(); err != nil {
			return s, err
		}
		if p.Usage != nil && p.Usage.CompletionTokens > 0 {
			s.Tokens, s.FromUsage = p.Usage.CompletionTokens, true
		}
		if len(p.Choices) == 0 || !p.Choices[0].generated() {
			continue
		}
		if chunks++; chunks > maxChunks || text.Len() > maxBody {
			return s, fmt.Errorf("read stream: more than %d chunks or %d bytes", maxChunks, maxBody)
		}
		if content := p.Choices[0].content(); content != "" {
			text.WriteString(content)
			withText++
		}
		s.chunk(chunks, elapsed())
	}
	if err := in.Err(); err != nil {
		return s, fmt.Errorf("read stream: %w", err)
	}
	return s, ErrTruncated
}

func (s *Stream) chunk(n int, at time.Duration) {
	if n == 1 {
		s.First = at
	} else {
		s.Gaps = append(s.Gaps, at-s.Last)
	}
	s.Last = at
}

// chunk is one event of a stream, or a complete response.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Object  string          `json:"object"`
}

type choice struct {
	Text  *string `json:"text"`
	Delta struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
	} `json:"delta"`
	Reason string `json:"finish_reason"`
}

// generated reports whether the chunk is a generated token, with or without text. The first
// chunk of a chat has only the role.
func (c choice) generated() bool {
	return c.Text != nil || c.Delta.Content != nil && (*c.Delta.Content != "" || c.Delta.Role == "")
}

func (c choice) content() string {
	switch {
	case c.Text != nil && *c.Text != "":
		return *c.Text
	case c.Delta.Content != nil:
		return *c.Delta.Content
	default:
		return ""
	}
}

type usage struct {
	CompletionTokens int `json:"completion_tokens"`
}

// failure is an error that the server sends with status 200.
func (p chunk) failure() error {
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return fmt.Errorf("the server returned an error: %s", clipResponse(string(p.Error)))
	}
	if p.Object == "error" {
		return fmt.Errorf("the server returned an error: %s", clipResponse(p.Message))
	}
	return nil
}
