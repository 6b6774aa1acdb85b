package prom

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gpuUtil is the shape of a real answer (cncf/k8s-ai-conformance, AICR evidence).
const gpuUtil = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","UUID":"GPU-c2f76b33-7953-256e-8f33-1343419b1a1c","gpu":"0","Hostname":"i-030791dc5a37cd257"},"value":[1773114089.184,"0"]}]}}`

func TestParseVector(t *testing.T) {
	t.Parallel()
	got, err := ParseVector([]byte(gpuUtil))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if got[0].Value != 0 || got[0].At.UnixMilli() != 1773114089184 || got[0].Labels["gpu"] != "0" {
		t.Errorf("%+v", got[0])
	}
	empty, err := ParseVector([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	if err != nil || len(empty) != 0 {
		t.Error(empty, err)
	}
}

func TestParseVectorRefuses(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"nothing":         ``,
		"a login page":    `<html>Sign in</html>`,
		"an error":        `{"status":"error","errorType":"bad_data","error":"parse error"}`,
		"no data":         `{"status":"success"}`,
		"a matrix":        `{"status":"success","data":{"resultType":"matrix","result":[]}}`,
		"cut short":       gpuUtil[:len(gpuUtil)-10],
		"value no string": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}}`,
		"value no number": `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}`,
		"no value":        `{"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}}`,
		"no time":         `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1e300,"1"]}]}}`,
		"no result":       `{"status":"success","data":{"resultType":"vector"}}`,
		"result null":     `{"status":"success","data":{"resultType":"vector","result":null}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := ParseVector([]byte(raw)); err == nil {
				t.Errorf("read as %v", got)
			}
		})
	}
}

// Answers that Thanos (thanos-io/thanos issue 3418), VictoriaMetrics' cluster version and Prometheus 3 mark as
// incomplete. Without the mark, a series that was not asked for is the same as one that does not exist.
func TestParsePartialAnswers(t *testing.T) {
	t.Parallel()
	const whole = `"data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114089.184,"1"]}]}`
	const empty = `"data":{"resultType":"vector","result":[]}`
	for name, tt := range map[string]struct{ raw, want string }{
		"whole":                     {`{"status":"success",` + whole + `}`, ""},
		"empty warnings":            {`{"status":"success",` + whole + `,"warnings":[],"infos":null,"isPartial":false}`, ""},
		"an information":            {`{"status":"success",` + whole + `,"infos":["PromQL info: metric might not be a counter (1:6)"]}`, ""},
		"an information before 3.0": {`{"status":"success",` + whole + `,"warnings":["PromQL info: metric might not be a counter (1:6)"]}`, ""},
		"no store":                  {`{"status":"success",` + empty + `,"warnings":["No StoreAPIs matched for this query"]}`, "incomplete answer: No StoreAPIs matched for this query"},
		"a store does not answer":   {`{"status":"success",` + whole + `,"warnings":["fetch series for {replica=\"0\"} Addr: 10.0.0.1:10901: rpc error: code = Unavailable"]}`, "incomplete answer: fetch series for"},
		"series left out by PromQL": {`{"status":"success",` + whole + `,"warnings":["PromQL warning: encountered a mix of histograms and floats for aggregation (1:1)"]}`, "incomplete answer: PromQL warning"},
		"a storage node is missing": {`{"status":"success","isPartial":true,` + empty + `}`, "incomplete answer: isPartial is true"},
		"a native histogram":        {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"x"},"histogram":[1435781451.781,{"count":"60","sum":"120"}]}]}}`, "is a native histogram"},
		// https://prometheus.io/docs/prometheus/latest/querying/api/: "NaN", "Inf" and "-Inf" are strings as any value.
		"no number":              {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114089.184,"NaN"]}]}}`, "value of sample map[gpu:0] is NaN: must be a finite number"},
		"infinite":               {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114089.184,"+Inf"]}]}}`, "value of sample map[gpu:0] is +Inf: must be a finite number"},
		"infinite, and negative": {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114089.184,"-Inf"]}]}}`, "value of sample map[gpu:0] is -Inf: must be a finite number"},
		"a large number":         {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114089.184,"1.7976931348623157e+308"]}]}}`, ""},
		"a scalar":               {`{"status":"success","data":{"resultType":"scalar","result":[1773114089.184,"42"]}}`, `result type is "scalar", want vector`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseVector([]byte(tt.raw))
			switch {
			case tt.want == "" && (err != nil || len(got) != 1):
				t.Errorf("%v, %v", got, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A list that is missing is not an empty list.
func TestParseMissingLists(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"status":"success","data":{}}`, `{"status":"success","data":null}`, `{"status":"success","data":{"activeTargets":[]},"warnings":["a store did not answer"]}`} {
		if got, err := ParseTargets([]byte(raw)); err == nil {
			t.Errorf("%s: targets %v", raw, got)
		}
		if got, err := ParseAlertmanagers([]byte(raw)); err == nil {
			t.Errorf("%s: alertmanagers %v", raw, got)
		}
	}
	if got, err := ParseTargets([]byte(`{"status":"success","data":{"activeTargets":[]}}`)); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	for _, raw := range []string{`null`, ``} {
		if got, err := ParseAlerts([]byte(raw)); err == nil {
			t.Errorf("%q: alerts %v", raw, got)
		}
	}
}

func TestParseReceivers(t *testing.T) {
	t.Parallel()
	raw := `{"cluster":{"status":"disabled"},"config":{"original":"route:\n  receiver: on-call\nreceivers:\n- name: on-call\n  webhook_configs:\n  - url: <secret>\n  - url: <secret>\n  pagerduty_configs:\n  - {}\n- name: none\n- name: empty\n  email_configs: []\n"}}`
	got, err := ParseReceivers([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := []Receiver{{Name: "on-call", Integrations: []string{"pagerduty", "webhook", "webhook"}}, {Name: "none"}, {Name: "empty"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `{}`, `{"config":{"original":""}}`, `{"config":{"original":"a: [b"}}`, `{"config":{"original":"route: {}"}}`} {
		if got, err := ParseReceivers([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

const notifications = `# TYPE alertmanager_notifications_total counter
alertmanager_notifications_total{integration="email"} 0
alertmanager_notifications_total{integration="webhook"} 3
# TYPE alertmanager_notifications_failed_total counter
alertmanager_notifications_failed_total{integration="webhook",reason="clientError"} 1
alertmanager_notifications_failed_total{integration="webhook",reason="other"} 1
`

func TestParseNotifications(t *testing.T) {
	t.Parallel()
	got, err := ParseNotifications([]byte(notifications))
	if err != nil {
		t.Fatal(err)
	}
	want := Notifications{Total: map[string]float64{"email": 0, "webhook": 3}, Failed: map[string]float64{"webhook": 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{``, `<html>`, "up 1\n"} {
		if _, err := ParseNotifications([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// Alertmanager 0.31 with --enable-feature=receiver-name-in-metrics, while the webhook of
// on-call is retried: the notification is begun, not failed and not delivered.
const retried = `# TYPE alertmanager_notifications_total counter
alertmanager_notifications_total{integration="webhook",receiver_name="on-call"} 1
alertmanager_notifications_total{integration="webhook",receiver_name="watchdog"} 9
# TYPE alertmanager_notifications_failed_total counter
alertmanager_notifications_failed_total{integration="webhook",reason="other",receiver_name="on-call"} 0
alertmanager_notifications_failed_total{integration="webhook",reason="other",receiver_name="watchdog"} 0
# TYPE alertmanager_notification_requests_total counter
alertmanager_notification_requests_total{integration="webhook",receiver_name="on-call"} 4
alertmanager_notification_requests_total{integration="webhook",receiver_name="watchdog"} 9
# TYPE alertmanager_notification_requests_failed_total counter
alertmanager_notification_requests_failed_total{integration="webhook",receiver_name="on-call"} 4
alertmanager_notification_requests_failed_total{integration="webhook",receiver_name="watchdog"} 0
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.77311408835e+09
# TYPE alertmanager_cluster_members gauge
alertmanager_cluster_members 3
`

func TestParseNotificationsByReceiver(t *testing.T) {
	t.Parallel()
	got, err := ParseNotifications([]byte(retried))
	if err != nil {
		t.Fatal(err)
	}
	webhook := func(n float64) map[string]float64 { return map[string]float64{"webhook": n} }
	want := Notifications{
		Total: webhook(10), Failed: webhook(0), Delivered: webhook(9), Started: 1773114088.35, Members: 3,
		ByReceiver: map[string]Notifications{
			"on-call":  {Total: webhook(1), Failed: webhook(0), Delivered: webhook(0)},
			"watchdog": {Total: webhook(9), Failed: webhook(0), Delivered: webhook(9)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseAlerts(t *testing.T) {
	t.Parallel()
	got, err := ParseAlerts([]byte(`[{"labels":{"alertname":"A"},"receivers":[{"name":"on-call"}],"status":{"state":"suppressed","silencedBy":["s1"],"inhibitedBy":[]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []AlertState{{Labels: map[string]string{"alertname": "A"}, State: "suppressed", Receivers: []string{"on-call"}, SilencedBy: []string{"s1"}, InhibitedBy: []string{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A muted alert is suppressed, by nothing else (prometheus/alertmanager, api/v2/compat.go, from 0.28 on).
	got, err = ParseAlerts([]byte(`[{"labels":{"alertname":"A"},"receivers":[{"name":"on-call"}],"status":{"state":"suppressed","silencedBy":[],"inhibitedBy":[],"mutedBy":["offhours"]}}]`))
	if err != nil || len(got) != 1 || !slices.Equal(got[0].MutedBy, []string{"offhours"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ParseAlerts([]byte(`{"code":500}`)); err == nil {
		t.Error("an error object was read as alerts")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		gpuUtil, notifications, `[]`, `{"config":{"original":"receivers: [{name: a}]"}}`,
		`{"status":"success","data":{"activeTargets":[{"labels":{"job":"dcgm"},"scrapeUrl":"http://10.0.0.1:9400/metrics","health":"down","lastError":"connection refused"}]}}`,
		`{"status":"success","data":{"activeAlertmanagers":[{"url":"https://127.0.0.1:9093/api/v2/alerts"}]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":["NaN","NaN"]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v, err := ParseExposition(raw, "a"); err != nil && v != nil {
			t.Error("an error and series")
		}
		if v, err := ParseVector(raw); err != nil && v != nil {
			t.Error("an error and samples")
		}
		if v, err := ParseTargets(raw); err != nil && v != nil {
			t.Error("an error and targets")
		}
		if v, err := ParseAlertmanagers(raw); err != nil && v != nil {
			t.Error("an error and alertmanagers")
		}
		if v, err := ParseReceivers(raw); err == nil && len(v) == 0 {
			t.Error("no receivers and no error")
		}
		if n, err := ParseNotifications(raw); err == nil && n.Total == nil {
			t.Error("no counters and no error")
		}
		if v, err := ParseAlerts(raw); err != nil && v != nil {
			t.Error("an error and alerts")
		}
	})
}

// The answer is that of Alertmanager 0.31 (api/v2/api.go): the state of a muted alert is suppressed in its group only.
func TestParseMutedBy(t *testing.T) {
	t.Parallel()
	const alert = `{"annotations":{},"endsAt":"2026-11-21T00:05:00.000Z","fingerprint":"0c","receivers":[{"name":"on-call"}],"startsAt":"2026-11-21T00:00:00.000Z","status":{"inhibitedBy":[],"mutedBy":%s,"silencedBy":[],"state":"%s"},"updatedAt":"2026-11-21T00:01:00.000Z","labels":{"alertname":"A"}}`
	group := func(muted, state string) string {
		return `{"alerts":[` + fmt.Sprintf(alert, muted, state) + `],"labels":{},"receiver":{"name":"on-call"}}`
	}
	for raw, want := range map[string][]string{
		"[]":                              nil,
		"[" + group("[]", "active") + "]": nil,
		"[" + group(`["weekend","nights"]`, "suppressed") + "," + group(`["nights"]`, "suppressed") + "]": {"nights", "weekend"},
	} {
		if got, err := ParseMutedBy([]byte(raw)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "{}", `[{"alerts":null}]`, `[{"alerts":{}}]`, "[{}]"} {
		if got, err := ParseMutedBy([]byte(raw)); err == nil {
			t.Errorf("%q: %q, want an error", raw, got)
		}
	}
}
