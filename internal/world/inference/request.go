package inference

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds a request body.
const maxBody = 16 << 20

// request has the supported fields of completion requests.
type request struct {
	Model               string         `json:"model"`
	Prompt              prompt         `json:"prompt"`
	Messages            []message      `json:"messages"`
	MaxTokens           *int           `json:"max_tokens"`
	MaxCompletionTokens *int           `json:"max_completion_tokens"`
	Temperature         *float64       `json:"temperature"`
	N                   *int           `json:"n"`
	Seed                *int64         `json:"seed"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// prompt is a text or a list of token IDs.
type prompt struct {
	text   string
	tokens int
}

func (p *prompt) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &p.text); err == nil {
		p.tokens = countTokens(p.text)
		return nil
	}
	var one []string
	if err := json.Unmarshal(b, &one); err == nil && len(one) == 1 {
		p.text, p.tokens = one[0], countTokens(one[0])
		return nil
	}
	var ids []int
	if err := json.Unmarshal(b, &ids); err == nil {
		p.text, p.tokens = fmt.Sprint(ids), len(ids)
		return nil
	}
	return errors.New("prompt must be a string or a list of token ids")
}

// refusal is an error response.
type refusal struct {
	status int
	kind   string
	text   string
}

func (r *refusal) Error() string { return r.text }

func bad(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "BadRequestError", fmt.Sprintf(format, args...)}
}

// read decodes and validates a request; chat selects the endpoint.
func (s *Server) read(w http.ResponseWriter, r *http.Request, chat bool) (request, *refusal) {
	var q request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&q); err != nil {
		return q, bad("Invalid request body: %v", err)
	}
	if q.Model != "" && q.Model != s.config.Model && !slices.Contains(s.config.Aliases, q.Model) {
		return q, &refusal{http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist.", q.Model)}
	}
	if q.N != nil && *q.N != 1 {
		return q, bad("n must be 1, got %d.", *q.N)
	}
	if chat {
		if len(q.Messages) == 0 {
			return q, bad("messages: at least one is required")
		}
		q.Prompt.text = q.Messages[len(q.Messages)-1].Content
		for _, m := range q.Messages {
			q.Prompt.tokens += countTokens(m.Content) + 4 // of the chat template
		}
		if q.MaxCompletionTokens != nil {
			q.MaxTokens = q.MaxCompletionTokens
		}
	}
	if q.Prompt.tokens == 0 || strings.TrimSpace(q.Prompt.text) == "" {
		return q, bad("The decoder prompt cannot be empty")
	}
	return q, s.limit(&q, chat)
}

// limit sets the number of tokens to generate.
func (s *Server) limit(q *request, chat bool) *refusal {
	room := s.config.MaxModelLen - q.Prompt.tokens
	if q.MaxTokens == nil {
		n := 16
		if chat {
			n = room
		}
		q.MaxTokens = &n
	}
	if *q.MaxTokens < 1 {
		return bad("max_tokens must be at least 1, got %d.", *q.MaxTokens)
	}
	if *q.MaxTokens > room {
		return bad("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). "+
			"Please reduce the length of the messages or completion.", s.config.MaxModelLen, q.Prompt.tokens+*q.MaxTokens, q.Prompt.tokens, *q.MaxTokens)
	}
	return nil
}
