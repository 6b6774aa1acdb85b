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
	maxPieces = 1 << 20
)

// ErrTruncated says that a stream ended without "[DONE]".
var ErrTruncated = errors.New("the stream ended before [DONE]")

// Stream is a streamed answer with its times, all from when it was sent.
type Stream struct {
	// First and Last piece. A token may have no text: one that ends a text which
	// is to go on, or half a character.
	First, Last time.Duration
	// Gaps are the times between pieces.
	Gaps []time.Duration
	// Tokens generated, from the server's usage when FromUsage, else one a
	// piece with text.
	Tokens    int
	FromUsage bool
	Text      string
}

// TPOT is the time per output token after the first; 0 with less than two.
func (s Stream) TPOT() time.Duration {
	if s.Tokens < 2 {
		return 0
	}
	return (s.Last - s.First) / time.Duration(s.Tokens-1)
}

// Stream asks for an answer piece by piece.
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
		_, _ = io.CopyN(io.Discard, resp.Body, maxError) // lets the connection be used again
	}
	return s, err
}

// ParseStream reads server-sent events; elapsed tells the time of each.
func ParseStream(r io.Reader, elapsed func() time.Duration) (Stream, error) {
	return guard.Parse("stream", func() (Stream, error) { return parseStream(r, elapsed) })
}

func parseStream(r io.Reader, elapsed func() time.Duration) (Stream, error) {
	var s Stream
	var text strings.Builder
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxEvent)
	pieces, withText := 0, 0
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
		var p piece
		if err := json.Unmarshal([]byte(data), &p); err != nil {
			return s, fmt.Errorf("read piece %.80q of the stream: %w", data, err)
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
		if pieces++; pieces > maxPieces || text.Len() > maxBody {
			return s, fmt.Errorf("stream of more than %d pieces or %d bytes", maxPieces, maxBody)
		}
		if said := p.Choices[0].content(); said != "" {
			text.WriteString(said)
			withText++
		}
		s.piece(pieces, elapsed())
	}
	if err := in.Err(); err != nil {
		return s, fmt.Errorf("read stream: %w", err)
	}
	return s, ErrTruncated
}

func (s *Stream) piece(n int, at time.Duration) {
	if n == 1 {
		s.First = at
	} else {
		s.Gaps = append(s.Gaps, at-s.Last)
	}
	s.Last = at
}

// piece is one event of a stream, or a whole answer.
type piece struct {
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

// generated says that the piece came of a token, also of one without text. A
// chat begins with a piece that only says whose turn it is.
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

// failure is the error that a server sends with status 200.
func (p piece) failure() error {
	if len(p.Error) > 0 && string(p.Error) != "null" {
		return fmt.Errorf("the server answered an error: %s", apiClip(string(p.Error)))
	}
	if p.Object == "error" {
		return fmt.Errorf("the server answered an error: %s", apiClip(p.Message))
	}
	return nil
}
