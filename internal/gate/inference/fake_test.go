package inference

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// fakeVLLM is a server as vLLM's API is, with defects. Its steps take a millisecond unless set.
type fakeVLLM struct {
	prefill, decode time.Duration
	failEvery       int
	noTokens        bool
	cut             bool
	oneToken        bool
	text            string
	model           string
	alias           string // a further name of the model
	noUsage         bool
	loadingLooks    int32 // requests of /health that are answered 503
	crashes         string
	never           bool
	blind           bool
	notPlaced       bool
	pulls           bool // the image cannot be pulled
	restarts        int
	hangs           time.Duration // of /v1/models
	sick            int           // status of /health after the load; -1: the connection is closed
	cannotForward   bool          // the API server refuses port forwards
	refuses         bool          // /v1/models and completions are answered 500

	asked   atomic.Int64
	looks   atomic.Int32
	running atomic.Int64
	most    atomic.Int64
	removed atomic.Bool
	url     string
}

const testModel = "meta-llama/Llama-3.1-8B-Instruct"

func testSite() *site.Site {
	s := &site.Site{Name: "test", Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}, {Name: "gpu-02"}}}}
	s.Workloads.Inference = site.InferenceWorkload{
		Image: "registry.example/vllm:0.12", Model: testModel, GPUs: 1, MaxModelLen: 8192,
		Prompt: "The capital of France is", GoldenPrefix: " Paris",
		Rate: 200, Concurrency: 8, Requests: 20, Warmup: 4, InputTokens: 16, OutputTokens: 4, Timeout: site.Duration(2 * time.Minute),
		TTFTp99: site.Duration(5 * time.Second), TPOTp99: site.Duration(3 * time.Second), ITLp99: site.Duration(5 * time.Second),
	}
	return s
}

func testGate(t *testing.T, s *site.Site) *Gate {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return New(s, p, Deps{RunID: "test"})
}

func (v *fakeVLLM) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		if v.sick != 0 && v.asked.Load() > 0 {
			v.ill(w)
			return
		}
		if v.never || v.crashes != "" || v.looks.Add(1) <= v.loadingLooks {
			http.Error(w, "", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if v.refuses {
			http.Error(w, "engine is dead", http.StatusInternalServerError)
			return
		}
		pause(r.Context(), v.hangs)
		model := testModel
		if v.model != "" {
			model = v.model
		}
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model"},{"id":%q,"object":"model"}]}`, model, cmp.Or(v.alias, model))
	})
	mux.HandleFunc("POST /v1/completions", v.complete)
	return mux
}

// ill answers /health of a server that is no longer healthy.
func (v *fakeVLLM) ill(w http.ResponseWriter) {
	if v.sick > 0 {
		http.Error(w, "engine is dead", v.sick)
		return
	}
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (v *fakeVLLM) complete(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream    bool `json:"stream"`
		MaxTokens int  `json:"max_tokens"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := " Paris"
	if v.text != "" {
		text = v.text
	}
	if !req.Stream {
		if words := strings.SplitAfter(text, " "); len(words) > req.MaxTokens {
			text = strings.Join(words[:req.MaxTokens], "")
		}
		fmt.Fprintf(w, `{"choices":[{"text":%q,"finish_reason":"length"}],"usage":{"completion_tokens":%d}}`, text+".", req.MaxTokens)
		return
	}
	n := v.asked.Add(1)
	now := v.running.Add(1)
	defer v.running.Add(-1)
	for have := v.most.Load(); now > have && !v.most.CompareAndSwap(have, now); have = v.most.Load() {
	}
	if v.failEvery > 0 && n%int64(v.failEvery) == 0 {
		http.Error(w, `{"error":"engine"}`, http.StatusInternalServerError)
		return
	}
	tokens := req.MaxTokens
	if v.oneToken {
		tokens = 1
	}
	if v.noTokens {
		tokens = 0
	}
	flusher, _ := w.(http.Flusher)
	pause(r.Context(), cmp.Or(v.prefill, time.Millisecond))
	for i := range tokens {
		if i > 0 {
			pause(r.Context(), cmp.Or(v.decode, time.Millisecond))
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":%q}]}\n\n", text)
		flusher.Flush()
	}
	if v.cut {
		return
	}
	if !v.noUsage {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":%d}}\n\n", tokens)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// pause is the model's time.
func pause(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// The vllm is its own pod.

func (v *fakeVLLM) where() place { return place{pod: "inference-0-abcde", node: "gpu-02"} }

func (v *fakeVLLM) service() string { return v.url }

func (v *fakeVLLM) claims() *allocation.Figures { return nil }

func (v *fakeVLLM) forward(context.Context) (addr string, stop func(), err error) {
	if v.cannotForward {
		return "", nil, errors.New("the API server is gone")
	}
	return strings.TrimPrefix(v.url, "http://"), func() {}, nil
}

func (v *fakeVLLM) ended(ctx context.Context) (crashed bool, why error) {
	switch {
	case v.crashes != "":
		return true, errors.New("container vllm: CrashLoopBackOff after 2 restarts")
	case v.pulls:
		return true, errors.New("container vllm: ImagePullBackOff")
	case v.blind:
		return false, errors.New("the API server is gone")
	}
	<-ctx.Done()
	return false, ctx.Err()
}

func (v *fakeVLLM) log(context.Context) ([]byte, error) { return []byte(v.crashes), nil }

func (v *fakeVLLM) served() string { return "" }

func (v *fakeVLLM) state(context.Context) (restarts int, job string, err error) {
	if v.crashes != "" {
		return 2, "", nil
	}
	return v.restarts, "", nil
}

func (v *fakeVLLM) remove(ctx context.Context) error {
	v.removed.Store(true)
	return ctx.Err()
}

var _ server = (*fakeVLLM)(nil)

type recorder struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.ID = fmt.Sprintf("%04d-%s", len(r.obs)+1, o.Kind)
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorder) Progress(string, ...any) {}

// pipes is a listener in memory.
type pipes chan net.Conn

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// observeAndJudge runs the gate once, in simulated time: a busy machine changes no figure.
func observeAndJudge(t *testing.T, g *Gate, v *fakeVLLM) (j check.Judgement, obs []check.Observation) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { j, obs = observe(t, g, v) })
	return j, obs
}

func observe(t *testing.T, g *Gate, v *fakeVLLM) (check.Judgement, []check.Observation) {
	t.Helper()
	listener := make(pipes)
	srv := &http.Server{Handler: v.handler(), ReadHeaderTimeout: time.Hour}
	go func() { _ = srv.Serve(listener) }() // its error is that it is closed
	defer func() { _ = srv.Close() }()
	g.dial, v.url = listener.dial, "http://server"
	g.start = func(context.Context) (server, error) {
		if v.notPlaced {
			return nil, errors.New(" 0 of 1 pods")
		}
		return v, nil
	}
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if v.removed.Load() == v.notPlaced {
		t.Errorf("removed %v", v.removed.Load())
	}
	return plan.Judge(g, rec.obs), rec.obs
}

// deadServer is an address without a listener.
func deadServer(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return "http://" + l.Addr().String()
}
