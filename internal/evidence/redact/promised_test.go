package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// forms are tokens that are known by how they look.
func forms() map[string]string {
	return map[string]string{
		"JWT": jwt, "GitHub": github, "GitHub fine-grained": fine, "AWS key ID": awsID, "NGC": ngc, "Hugging Face": hf, "bootstrap": bootstrap,
		"GitLab":       "gl" + "pat-" + strings.Repeat("aB3d5", 4),
		"Slack":        "xo" + "xb-" + strings.Repeat("1234567", 3),
		"Docker":       "dckr" + "_pat_" + strings.Repeat("aB3d5", 5),
		"OpenAI":       "s" + "k-" + strings.Repeat("aB3d5", 8),
		"OpenShift":    "sha" + "256~" + strings.Repeat("a", 43),
		"npm":          "np" + "m_" + strings.Repeat("aB3d", 9),
		"Vault":        "hv" + "s." + strings.Repeat("aB3d5", 6),
		"Tailscale":    "ts" + "key-auth-" + strings.Repeat("aB3d5", 5),
		"DigitalOcean": "do" + "p_v1_" + strings.Repeat("ab3d", 16),
	}
}

// Every form of token is found wherever tools print it.
func TestTokensAreFoundInEveryContext(t *testing.T) {
	t.Parallel()
	contexts := map[string]string{
		"sentence": "the token is %, ok", "log line": "I1121 10:00:00.000 main.go:1] using %", "YAML": "a:\n  value: %\nb: c\n",
		"JSON": `{"a":{"out":"got % back"}}`, "cut JSON": `{"a":{"out":"%","b`, "quoted": `x='%' y`,
	}
	for form, secret := range forms() {
		for context, text := range contexts {
			t.Run(form+"/"+context, func(t *testing.T) {
				t.Parallel()
				gone(t, strings.ReplaceAll(text, "%", secret), secret)
			})
		}
	}
}

// The promises of docs/evidence.md, in the syntax that people and tools use.
func TestCredentialsAreFoundByTheirContext(t *testing.T) {
	t.Parallel()
	const p, hex = "hunter2X", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"
	kubeconfig := base64.StdEncoding.EncodeToString([]byte("apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: abcdefghijklmnop1234\n"))
	for name, tt := range map[string]struct{ in, secret string }{
		"PGPASSWORD":                       {"PGPASSWORD=" + p + " psql -h db", p},
		"SSHPASS":                          {"export SSHPASS=" + p + "\n", p},
		"REDIS_AUTH":                       {"REDIS_AUTH=" + p + "\n", p},
		"MYSQL_PWD":                        {"MYSQL_PWD=" + p + " mysql", p},
		"password with a semicolon":        {"DB_PASSWORD=aaa;" + p + "\n", p},
		"password with a comma":            {"DB_PASSWORD=aaa," + p + "\n", p},
		"Secret in YAML flow":              {"{kind: Secret, data: {user: " + p + "}}\n", p},
		"Secret in YAML flow, data first":  {"- {apiVersion: v1, stringData: {user: " + p + "}, kind: Secret}\n", p},
		"block scalar":                     {"password: |\n  " + p + "\nnext: x\n", p},
		"block scalar, folded":             {"db:\n  client-secret: >-\n    " + hex + "\n  next: x\n", hex},
		"block scalar in a list":           {"- token: |-\n    " + hex + "\n- b\n", hex},
		"password that is a number":        {`{"password": 12345678}`, "12345678"},
		"password that is a number, cut":   {`{"a":{"password": 12345678, "b`, "12345678"},
		"client secret in hexadecimal":     {`{"client_secret":"` + hex + `"}`, hex},
		"secret in hexadecimal":            {`{"secret":"` + hex + `"}`, hex},
		"secret in hexadecimal, YAML":      {"clientSecret: " + hex + "\n", hex},
		"option that begins with a dash":   {"run --password=-" + p, p},
		"option with quotes and blanks":    {`run --password "abc ` + p + `" x`, p},
		"option with = and blanks":         {`run --password="abc ` + p + `" x`, p},
		"option pass":                      {"tool --pass " + p, p},
		"option db-pass":                   {"tool --db-pass=" + p, p},
		"option in a YAML list":            {"command:\n- helm\n- --password\n- " + p + "\n", p},
		"option in a YAML flow list":       {"command: [helm, --password, " + p + "]\n", p},
		"option in a JSON list":            {`{"args":["--password","` + p + `","--x"]}`, p},
		"option in a JSON list, cut":       {`x {"args":["--password","` + p + `","--x`, p},
		"curl -u":                          {"curl -s -u admin:" + p + " https://h", p},
		"curl --user":                      {"curl --user admin:" + p + " https://h", p},
		"ipmitool -P":                      {"ipmitool -I lanplus -H h -U admin -P " + p + " power status", p},
		"sshpass -p":                       {"sshpass -p " + p + " ssh h", p},
		"sshpass -pX":                      {"sshpass -p" + p + " ssh h", p},
		"helm --set":                       {"helm upgrade x --set auth.password=" + p, p},
		"helm --set, second":               {"helm upgrade x --set a=b,auth.rootPassword=" + p, p},
		"URL with a slash in the password": {"postgres://u:a/" + p + "@h/db", p},
		"URL with an at in the password":   {"https://u:a@" + p + "@h/", p},
		"URL with a token for user":        {"git clone https://" + hex + "@github.com/x", hex},
		"redis URL without a user":         {"redis://:" + p + "@h:6379/0", p},
		"encrypted key, cut":               {"-----BEGIN RSA PRIVATE" + " KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,ABCDEF\n\n" + body, strings.TrimSpace(body)[:40]},
		"kubeconfig in base64":             {"kubeconfig: " + kubeconfig + "\n", kubeconfig[20:60]},
		"kubeconfig in base64, JSON":       {`{"kubeconfig":"` + kubeconfig + `"}`, kubeconfig[20:60]},
		"Azure AccountKey":                 {"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + strings.Repeat("aB3d", 20) + "==;EndpointSuffix=y", strings.Repeat("aB3d", 20)},
		"Azure SharedAccessKey":            {"Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=" + strings.Repeat("aB3d", 10) + "=", strings.Repeat("aB3d", 10)},
		"Slack webhook":                    {"POST https://hooks.slack.com/services/T00000000/B00000000/" + strings.Repeat("aB3d", 6), strings.Repeat("aB3d", 6)},
		"InfiniBand M_Key":                 {"M_Key:...........................0x0123456789abcdef\n", "0123456789abcdef"},
		"password of a Redfish account":    {`{"UserName":"root","Password":"` + p + `"}`, p},
		"SNMP passphrase":                  {"SNMP_AUTH_PASSPHRASE=" + p + "\n", p},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone(t, tt.in, tt.secret)
		})
	}
}

func gone(t *testing.T, in, secret string) {
	t.Helper()
	out := redact.String(in)
	if strings.Contains(out, secret) || !strings.Contains(out, "[redacted: ") {
		t.Errorf("left: %s", out)
	}
	if json.Valid([]byte(in)) && !json.Valid([]byte(out)) {
		t.Errorf("no longer JSON: %s", out)
	}
	if again := redact.String(out); again != out {
		t.Errorf("redacted again:\n%s\n%s", out, again)
	}
}
