package hook

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A hook's log kept what the cloud's program printed, and the last lines of it are in a
// reservation's history, which a whole team may read.
func TestLogsOfHooksHoldNoCredentials(t *testing.T) {
	t.Parallel()
	const value = `hunter2"and more`
	for name, tt := range map[string]struct{ line, secret string }{
		"a value":              {"using " + value, "hunter2"},
		"a value in base64":    {"using " + base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))[:12]},
		"a value in JSON":      {`{"x":"hunter2\"and more"}`, "hunter2"},
		"a bearer token":       {"> Authorization: Bearer abcdef0123456789", "abcdef0123456789"},
		"a variable":           {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG", "wJalrXUtnFEMIK7MDENG"},
		"a password in a URL":  {"clone https://me:sesame1@host/x", "sesame1"},
		"a password as option": {"helm login --password sesame1", "sesame1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			log := newTail(map[string]string{"API_KEY": value}, func(line string) { told = append(told, line) })
			if _, err := log.Write([]byte(tt.line + "\n")); err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(append(told, log.last()...), "\n"); strings.Contains(all, tt.secret) || all == "" {
				t.Errorf("left: %s", all)
			}
		})
	}
}

// The log of a hook's Job was kept as it was.
func TestLogsOfJobsHoldNoCredentials(t *testing.T) {
	t.Parallel()
	for name, exit := range map[string]int32{"answered": 0, "failed": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "hook"}}},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
					{Name: "hook", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit}}},
				}},
			}
			jobs := &Jobs{Logs: func(context.Context, string, string, string) ([]byte, error) {
				return []byte("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG\nusing it\n"), nil
			}}
			out, err := jobs.output(t.Context(), pod)
			if all := strings.Join(out.Log, "\n"); err != nil || strings.Contains(all, "wJalr") || all == "" {
				t.Errorf("left: %s, %v", all, err)
			}
		})
	}
}
