package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// An answer has, for each host, its distinct GPUs and its oldest sample. A series without UUID is of
// no GPU.
func TestAnAnswerCountsTheGPUsOfEachHost(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return now().Add(time.Duration(seconds) * time.Second) }
	state := seriesFigures{Now: now(), Series: []series{
		{Host: "a", UUID: "GPU-1", Sampled: at(-2)}, {Host: "a", UUID: "GPU-2", Sampled: at(-3)}, {Host: "a", UUID: "GPU-2", Sampled: at(-1)},
		{Host: "a", Sampled: at(-2)}, {Host: "b", UUID: "GPU-1", Sampled: at(-9)},
	}}
	want := answer{Now: now(), Hosts: map[string]hostAnswer{"a": {GPUs: 2, Oldest: at(-3)}, "b": {GPUs: 1, Oldest: at(-9)}}}
	if diff := cmp.Diff(want, answerOf(state, nil)); diff != "" {
		t.Error(diff)
	}
	want = answer{Now: now(), Hosts: map[string]hostAnswer{}, Err: "refused"}
	if diff := cmp.Diff(want, answerOf(state, errors.New("refused"))); diff != "" {
		t.Errorf("an answer that could not be read has hosts: %s", diff)
	}
}

// Each answer must be complete, with samples that are at most the permitted age older than those of
// the answers before it. Answers of one process fail at times, those of several lack series.
func TestAnswerRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	all := checktest.When
	hosts := func(oldest ...time.Duration) map[string]any {
		out := map[string]any{}
		for i, d := range oldest {
			out[fmt.Sprintf("gpu-%02d", i+1)] = hostAnswer{GPUs: g.gpus, Oldest: now().Add(-7*time.Second - d)}
		}
		return out
	}
	answerAt := func(i int, oldest ...time.Duration) checktest.Change {
		return checktest.Set(kindAnswers, fmt.Sprintf(".answers[%d].hosts", i), hosts(oldest...))
	}
	process := func(which, name string) checktest.Change {
		return checktest.Set(kindAnswers, ".answers["+which+"].process", name)
	}
	const replicas = "12 answers are incomplete"
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		all("one answer too few", checktest.Set(kindAnswers, ".answers[0]", checktest.LeftOut)).Unobserved("Prometheus' replicas", "only 11 answers were observed, want 12"),
		all("samples at the limit of age", answerAt(3, g.maxAge, g.maxAge)).Passes(),
		all("samples beyond the limit of age", answerAt(3, 0, g.maxAge+time.Millisecond)).Fails("Prometheus", "1 of "+replicas+" (samples of gpu-02 are 30.001s older"),
		all("the newest samples count, not the last", answerAt(3, -g.maxAge, 0), answerAt(4), answerAt(5, g.maxAge, 0)).Fails("Prometheus", "2 of "+replicas),
		all("older samples do not become the newest", answerAt(3, g.maxAge, 0), answerAt(4, g.maxAge+time.Second, 0)).Fails("Prometheus", "1 of "+replicas),
		all("samples that are late alike", answerAt(0, time.Minute, time.Minute)).Passes(),
		all("a GPU too few", checktest.Set(kindAnswers, `.answers[last].hosts["gpu-02"].gpus`, 7)).Unobserved("Prometheus", "1 of "+replicas+" (gpu-02 has series of 7 of 8 GPUs)"),
		all("a GPU too many", checktest.Set(kindAnswers, `.answers[last].hosts["gpu-02"].gpus`, 9)).Unobserved("Prometheus", "gpu-02 has series of 9 of 8 GPUs"),
		all("an error lacks all nodes", checktest.Set(kindAnswers, ".answers[2].err", "503")).Unobserved("Prometheus", "1 of "+replicas+" (503)"),
		all("an error has no samples", checktest.Set(kindAnswers, ".answers[0].err", "503"), answerAt(0, -time.Minute, -time.Minute)).Unobserved("Prometheus", "1 of "+replicas+" (503)"),
		all("no answer could be read", checktest.Set(kindAnswers, ".answers[*].err", "503")).Unobserved("Prometheus", "no further answer could be read: 503"),
		all("one process fails at times", process("*", "p 1"), answerAt(3, 0)).Unobserved("Prometheus", "all are of one process"),
		all("two processes", process("*", "p 1"), process("last", "p 2"), answerAt(3, 0)).Fails("Prometheus", "several Prometheus replicas"),
		all("the process of one answer is unknown", process("*", "p 1"), process("last", ""), answerAt(3, 0)).Unobserved("Prometheus", "whether several replicas answer is unknown"),
		all("the process of no answer is known", answerAt(3, 0)).Unobserved("Prometheus", "whether several replicas answer is unknown"),
		all("older samples are never of one process that answers in order", answerAt(3, 0, time.Hour)).Fails("Prometheus", "older than in an earlier answer"),
		all("one process whose samples become older", process("*", "p 1"), answerAt(3, 0, time.Hour)).Unobserved("Prometheus", "all are of one process"),
		all("two processes in one answer", checktest.Set(kindAnswers, ".answers[5].several", true), answerAt(3, 0)).Fails("Prometheus", "several Prometheus replicas"),
	})
}

// hurried is a clock on which the time of a timer is over at once.
type hurried struct {
	clock.RealClock
	at *time.Time
}

func (h hurried) Now() time.Time { return *h.at }

func (h hurried) Since(t time.Time) time.Duration { return h.at.Sub(t) }

func (h hurried) NewTimer(d time.Duration) clock.Timer {
	*h.at = h.at.Add(d)
	return h.RealClock.NewTimer(0)
}

// readingsOf is a Prometheus that answers the n-th query of the series with the n-th text, and then
// always with the last; the text "whole" has every series, "none" has none, any other is an error. Its
// process is the number of its starts.
func readingsOf(t *testing.T, queries *atomic.Int64, texts ...string) prom.Prometheus {
	t.Helper()
	return restarting(t, queries, func() int64 { return 1 }, texts...)
}

func restarting(t *testing.T, queries *atomic.Int64, starts func() int64, texts ...string) prom.Prometheus {
	t.Helper()
	whole := &api{now: time.Now}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/query":
		case "/api/v1/status/runtimeinfo":
			fmt.Fprintf(w, `{"status":"success","data":{"startTime":"2026-11-21T00:00:00Z","hostname":"p-%d"}}`, starts())
			return
		default:
			whole.ServeHTTP(w, r)
			return
		}
		text := texts[min(int(queries.Add(1)), len(texts))-1]
		switch text {
		case "whole":
			whole.ServeHTTP(w, r)
		case "none":
			io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`) //nolint:errcheck // a test server
		default:
			http.Error(w, text, http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return prom.Prometheus{Client: client}
}

// Series with a defect are read again until they have none or the time is over; the last reading
// counts.
func TestSeriesDefects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		texts    []string
		interval time.Duration
		queries  int
		took     time.Duration
		suspects []string
		says     string
	}{
		"no defect":                      {[]string{"whole"}, time.Second, 1, 0, nil, ""},
		"a scrape failed":                {[]string{"none", "none", "whole"}, time.Second, 3, 2 * time.Second, nil, ""},
		"a query failed":                 {[]string{"down", "whole"}, time.Second, 2, time.Second, nil, ""},
		"a defect after a failed query":  {[]string{"down", "none"}, time.Minute, 2, time.Minute, []string{"Prometheus"}, ""},
		"always without series":          {[]string{"none"}, time.Second, 5, 4 * time.Second, []string{"Prometheus"}, ""},
		"seldom scraped, without series": {[]string{"none"}, 20 * time.Second, 4, time.Minute, []string{"Prometheus"}, ""},
		"never read":                     {[]string{"down"}, time.Second, 5, 4 * time.Second, nil, "503"},
		"not read in the end":            {[]string{"none", "down"}, time.Minute, 2, time.Minute, nil, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			began := now()
			var queries atomic.Int64
			g.nodes, g.gpus, g.profile.Settle.Value, g.telemetry.ScrapeInterval = []string{"gpu-01"}, 1, 4, site.Duration(tt.interval)
			at := began
			g.deps.Clock = hurried{at: &at}
			found, err := g.SeriesDefects(t.Context(), readingsOf(t, &queries, tt.texts...))
			var suspects []string
			for _, f := range found {
				if f.Message == "" || f.Remedy == "" {
					t.Errorf("%+v", f)
				}
				suspects = append(suspects, f.Suspect)
			}
			if slices.Sort(suspects); !slices.Equal(suspects, tt.suspects) || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, %v", found, err)
			}
			if took := at.Sub(began); int(queries.Load()) != tt.queries || took != tt.took {
				t.Errorf("%d queries in %s, want %d in %s", queries.Load(), took, tt.queries, tt.took)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var queries atomic.Int64
	if found, err := gate(t).SeriesDefects(ctx, readingsOf(t, &queries, "whole")); err == nil || len(found) > 0 {
		t.Errorf("an interrupted reading: %+v, %v", found, err)
	}
}

// A round of answers that is not complete is repeated until the time is over, and the last round is
// recorded. An answer names the process that answered before and after it, if that is one.
func TestRoundsOfAnswers(t *testing.T) {
	t.Parallel()
	var restarts atomic.Int64
	same := func() int64 { return 1 }
	part := append(slices.Repeat([]string{"whole"}, answersWanted-1), "none")
	for name, tt := range map[string]struct {
		texts      []string
		starts     func() int64
		queries    int
		incomplete int
		process    string
	}{
		"complete":                     {[]string{"whole"}, same, answersWanted, 0, "p-1 2026-11-21T00:00:00Z"},
		"complete at the second round": {append(slices.Clone(part), "whole"), same, 2 * answersWanted, 0, "p-1 2026-11-21T00:00:00Z"},
		"never complete":               {[]string{"none"}, same, 5 * answersWanted, answersWanted, "p-1 2026-11-21T00:00:00Z"},
		"restarted during each answer": {[]string{"whole"}, func() int64 { return restarts.Add(1) }, answersWanted, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, at := gate(t), now()
			var queries atomic.Int64
			g.nodes, g.gpus, g.profile.Settle.Value = []string{"gpu-01"}, 1, 4
			g.deps.Clock = hurried{at: &at}
			var rec recorder
			if err := g.observeAnswers(t.Context(), restarting(t, &queries, tt.starts, tt.texts...), &rec); err != nil || len(rec.obs) != 1 {
				t.Fatalf("%+v, %v", rec.obs, err)
			}
			f, err := check.Decode[answersFigures](rec.obs[0])
			if err != nil {
				t.Fatal(err)
			}
			if n := len(g.partialAnswers(f)); int(queries.Load()) != tt.queries || n != tt.incomplete || len(f.Answers) != answersWanted {
				t.Errorf("%d of %d answers are incomplete after %d queries, want %d after %d", n, len(f.Answers), queries.Load(), tt.incomplete, tt.queries)
			}
			for i, a := range f.Answers {
				if a.Process != tt.process {
					t.Errorf("answer %d is of %q, want %q", i, a.Process, tt.process)
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := gate(t)
	var queries atomic.Int64
	var rec recorder
	if err := g.observeAnswers(ctx, readingsOf(t, &queries, "whole"), &rec); !errors.Is(err, context.Canceled) || len(rec.obs) > 0 {
		t.Errorf("an interrupted round: %+v, %v", rec.obs, err)
	}
}
