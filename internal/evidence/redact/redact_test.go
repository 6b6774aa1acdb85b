package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// The secrets of the tests are invented and assembled here, so that secret scanners
// do not report them.
var (
	jwt       = "eyJhbGciOiJSUzI1NiIsImtpZCI6" + "Ing5In0.eyJpc3MiOiJrdWJlcm5ldGVz." + "c2lnbmF0dXJlLXNpZ25hdHVyZQ"
	bootstrap = "abc" + "d3f.0123456789abcdef"
	github    = "gh" + "p_" + strings.Repeat("aB3d", 9)
	fine      = "github" + "_pat_" + strings.Repeat("aB3d5", 8)
	awsID     = "AKIA" + "IOSFODNN7EXAMPLE"
	awsSecret = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
	ngc       = "nv" + "api-" + strings.Repeat("xY7-z", 12)
	hf        = "h" + "f_" + strings.Repeat("AbCd", 9)
	body      = strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n", 3)
	pemKey    = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + body + "-----END RSA PRIVATE" + " KEY-----"
	pemCert   = "-----BEGIN CERTIFICATE-----\n" + body + "-----END CERTIFICATE-----"
	base64Key = base64.StdEncoding.EncodeToString([]byte(pemKey + "\n"))
	base64Cer = base64.StdEncoding.EncodeToString([]byte(pemCert + "\n"))
)

// planted is a text and the secret that must not be in the redacted text.
type planted struct {
	in     string
	secret string
	want   string // the redacted text; empty: check only that the secret is removed
}

func plants() map[string]planted {
	return map[string]planted{
		"a JWT":                        {"token is " + jwt + ", ok", jwt, "token is [redacted: jwt], ok"},
		"a bearer":                     {"> Authorization: Bearer 0123456789abcdefABCDEF", "0123456789abcdefABCDEF", "> Authorization: Bearer [redacted: authorization]"},
		"a bearer in a sentence":       {"sent bearer AbCdEf0123456789xyz to it", "AbCdEf0123456789xyz", "sent bearer [redacted: bearer] to it"},
		"basic authorization":          {`{"headers":{"Authorization":"Basic dXNlcjpwYXNz"}}`, "dXNlcjpwYXNz", ""},
		"authorization in a log":       {`level=info hdr="Authorization: Basic dXNlcjpwYXNz" x`, "dXNlcjpwYXNz", `level=info hdr="Authorization: Basic [redacted: authorization]" x`},
		"a bootstrap token":            {"kubeadm join 10.0.0.1:6443 --token " + bootstrap, bootstrap, "kubeadm join 10.0.0.1:6443 --token [redacted: bootstrap-token]"},
		"a bootstrap token's sentence": {"use " + bootstrap + ".", bootstrap, "use [redacted: bootstrap-token]."},
		"GitHub":                       {"clone with " + github, github, "clone with [redacted: token]"},
		"GitHub, fine-grained":         {fine, fine, "[redacted: token]"},
		"AWS key ID":                   {"using " + awsID + "\n", awsID, "using [redacted: token]\n"},
		"AWS credentials file":         {"[default]\naws_secret_access_key = " + awsSecret + "\nregion = x\n", awsSecret, ""},
		"NGC":                          {"NGC says " + ngc + "!", ngc, "NGC says [redacted: token]!"},
		"Hugging Face":                 {"HF_HOME=/x " + hf, hf, "HF_HOME=/x [redacted: token]"},
		"a private key":                {"before\n" + pemKey + "\nafter", strings.TrimSpace(body), "before\n[redacted: private-key]\nafter"},
		"a private key that is cut":    {"before\n" + pemKey[:120] + "\n\nafter it.", pemKey[40:100], ""},
		"a private key, then another":  {pemKey[:100] + "\n" + pemKey, strings.TrimSpace(body)[:50], ""},
		"a private key in JSON":        {string(mustJSON(map[string]string{"out": pemKey})), "MIIEvQ", `{"out":"[redacted: private-key]"}`},
		"a private key in base64":      {"client-key-data: " + base64Key + "\n", base64Key[:60], ""},
		"a private key elsewhere":      {"dump " + base64Key + " end", base64Key[:60], "dump [redacted: private-key] end"},
		"a kubeconfig, YAML": {"users:\n- name: admin\n  user:\n    token: 0123456789abcdef\n    client-key-data: QUJD\n    password: hunter2\n", "hunter2",
			"users:\n- name: admin\n  user:\n    token: \"[redacted: token]\"\n    client-key-data: \"[redacted: private-key]\"\n    password: \"[redacted: password]\"\n"},
		"a kubeconfig, JSON": {`{"users":[{"name":"admin","user":{"token":"0123456789abcdef","username":"u","password":"hunter2"}}]}`, "hunter2",
			`{"users":[{"name":"admin","user":{"token":"[redacted: token]","username":"u","password":"[redacted: password]"}}]}`},
		"a Docker configuration": {`{"auths": {"nvcr.io": {"auth": "JG9hdXRodG9rZW46c2VjcmV0"}}}`, "JG9hdXRodG9rZW46c2VjcmV0",
			`{"auths": {"nvcr.io": {"auth": "[redacted: registry-auth]"}}}`},
		"a pull secret, JSON": {`{"apiVersion":"v1","data":{".dockerconfigjson":"eyJhdXRocyI6e319"},"kind":"Secret","metadata":{"name":"pull"},"type":"kubernetes.io/dockerconfigjson"}`, "eyJhdXRocyI6e319",
			`{"apiVersion":"v1","data":{".dockerconfigjson":"[redacted: secret-data]"},"kind":"Secret","metadata":{"name":"pull"},"type":"kubernetes.io/dockerconfigjson"}`},
		"a list of Secrets, JSON": {`{"kind":"SecretList","items":[{"metadata":{"name":"a"},"data":{"user":"YWRtaW4="}}]}`, "YWRtaW4=", ""},
		"Secrets in a List, JSON": {`{"kind":"List","items":[{"kind":"ConfigMap","data":{"user":"stays"}},{"kind":"Secret","stringData":{"user":"admin1"}}]}`, "admin1",
			`{"kind":"List","items":[{"kind":"ConfigMap","data":{"user":"stays"}},{"kind":"Secret","stringData":{"user":"[redacted: secret-data]"}}]}`},
		"a Secret as it was applied": {string(mustJSON(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": `{"kind":"Secret","data":{"user":"YWRtaW4="}}`}}})), "YWRtaW4=", ""},
		"a Secret, YAML": {"apiVersion: v1\ndata:\n  user: YWRtaW4=\n  script: |\n    one\n    two\nkind: Secret\nmetadata:\n  name: a\n", "two",
			"apiVersion: v1\ndata:\n  user: \"[redacted: secret-data]\"\n  script: \"[redacted: secret-data]\"\nkind: Secret\nmetadata:\n  name: a\n"},
		"Secrets in a List, YAML": {"items:\n- apiVersion: v1\n  data:\n    user: stays\n  kind: ConfigMap\n- apiVersion: v1\n  data:\n    user: YWRtaW4=\n  kind: Secret\nkind: List\n", "YWRtaW4=",
			"items:\n- apiVersion: v1\n  data:\n    user: stays\n  kind: ConfigMap\n- apiVersion: v1\n  data:\n    user: \"[redacted: secret-data]\"\n  kind: Secret\nkind: List\n"},
		"a Secret among documents, YAML": {"kind: ConfigMap\ndata:\n  user: stays\n---\nkind: Secret\ndata: {user: YWRtaW4=}\n", "YWRtaW4=",
			"kind: ConfigMap\ndata:\n  user: stays\n---\nkind: Secret\ndata: \"[redacted: secret-data]\"\n"},
		"an environment":               {"PATH=/bin\nNGC_API_KEY=abcdef0123\nexport DB_PASSWORD='hunter2 is it'\nHOME=/root\n", "hunter2", "PATH=/bin\nNGC_API_KEY=[redacted: environment]\nexport DB_PASSWORD='[redacted: environment]'\nHOME=/root\n"},
		"environment of a number":      {"VAULT_SECRET=1234\n", "1234", "VAULT_SECRET=[redacted: environment]\n"},
		"environment of a pod":         {`{"env":[{"name":"HF_TOKEN","value":"short1"},{"name":"NCCL_DEBUG","value":"INFO"}]}`, "short1", `{"env":[{"name":"HF_TOKEN","value":"[redacted: environment]"},{"name":"NCCL_DEBUG","value":"INFO"}]}`},
		"environment, YAML":            {"env:\n- name: MY_SECRET\n  value: abc-def\n- name: OTHER\n  value: stays\n", "abc-def", "env:\n- name: MY_SECRET\n  value: \"[redacted: environment]\"\n- name: OTHER\n  value: stays\n"},
		"environment, described":       {"    Environment:\n      WANDB_API_KEY:  0a1b2c3d\n      X:  y\n", "0a1b2c3d", ""},
		"a command line":               {"helm registry login -u me --password hunter2 nvcr.io", "hunter2", "helm registry login -u me --password [redacted: command-line] nvcr.io"},
		"a command line with =":        {`run --api-key="abc def" --x`, "abc", ""},
		"a URL":                        {"pull https://user:hunter2@nvcr.io/v2/", "hunter2", "pull https://user:[redacted: password]@nvcr.io/v2/"},
		"a signed URL":                 {"GET https://s3/x?X-Amz-Signature=abcdef0123456789&v=1", "abcdef0123456789", "GET https://s3/x?X-Amz-Signature=[redacted: signature]&v=1"},
		"netrc":                        {"machine h login me password hunter2\n", "hunter2", ""},
		"JSON lines":                   {"{\"a\":1}\n{\"password\":\"hunter2\"}\n", "hunter2", "{\"a\":1}\n{\"password\":\"[redacted: password]\"}\n"},
		"a Secret behind words":        {`Response Body: {"data":{"user":"YWRtaW4="},"kind":"Secret"} in 3 ms`, "YWRtaW4=", `Response Body: {"data":{"user":"[redacted: secret-data]"},"kind":"Secret"} in 3 ms`},
		"a Secret in an output":        {"$ kubectl get -o json\n{\n  \"data\": {\n    \"user\": \"YWRtaW4=\"\n  },\n  \"kind\": \"Secret\"\n}\n$ exit {\n", "YWRtaW4=", ""},
		"a Secret, YAML, behind words": {"refused: data:\n  user: YWRtaW4=\nkind: Secret\n", "YWRtaW4=", "refused: data:\n  user: \"[redacted: secret-data]\"\nkind: Secret\n"},
		"JSON that is cut":             {`{"user":{"password":"hunter2","tok`, "hunter2", `{"user":{"password":"[redacted: password]","tok`},
		"JSON in a log line":           {`I1121 got {"clientSecret":"aB3dEf6hIj9lMnOp2rSt"} back`, "aB3dEf6hIj9lMnOp2rSt", ""},
		"JSON in a string of one":      {`x "{\"password\":\"hunter2\"}" y`, "hunter2", `x "{\"password\":\"[redacted: password]\"}" y`},
		"a key that is one":            {`{"` + github + `":1}`, github, `{"[redacted: token]":1}`},
	}
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // of maps of strings
	}
	return data
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	for name, tt := range plants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := redact.String(tt.in)
			if strings.Contains(out, tt.secret) || !strings.Contains(out, "[redacted: ") {
				t.Errorf("left: %s", out)
			}
			if tt.want != "" {
				if diff := cmp.Diff(tt.want, out); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			if json.Valid([]byte(tt.in)) != json.Valid([]byte(out)) {
				t.Errorf("no longer JSON: %s", out)
			}
			if again := redact.String(out); again != out {
				t.Errorf("redacted again:\n%s\n%s", out, again)
			}
		})
	}
}

func TestTextWithoutSecretsIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "\n", "no secret", `{"a": [1, 2.50, null], "b":"c" }`, pemCert, "certificate-authority-data: " + base64Cer + "\n",
		`{"automountServiceAccountToken":true,"volumes":[{"secret":{"secretName":"tls"}}],"imagePullSecrets":[{"name":"ngc"}]}`,
		`{"tolerations":[{"key":"nvidia.com/gpu","operator":"Exists"}],"matchExpressions":[{"key":"zone","values":["a"]}]}`,
		`{"env":[{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"hf","key":"token"}}}]}`,
		"      HF_TOKEN:  <set to the key 'token' in secret 'hf'>  Optional: false\n",
		"Output token throughput (tok/s):         1226.98\nTotal input tokens:  215312\n", "gen throughput, #new-token: 4096, token usage: 0.12\n",
		`{"eos_token":"<|end_of_text|>","max_tokens":128,"token":" Paris"}`, "NUM_TOKENS=8192\nMAX_TOKEN=4096\nKEY_COUNT=3\n",
		"NCCL_IB_PKEY=0x7fff\nP_Key: 0x8001\nM_Key:...........................0x0000000000000000\nGUID Key: 0xe41d2d03\n",
		"bearer authentication-is-enabled", "Authorization: Bearer <masked>", "secret/ngc created", "123456.1234567890123456",
		"kernel.sched-something plugin.networkinterface", "https://host:443/path@x", "image: nvcr.io/nvidia/cuda@sha256:" + strings.Repeat("ab", 32),
		"kind: SecretStore\ndata:\n  a: b\n", "kind: ConfigMap\ndata:\n  a: b\n", "--token-file=/etc/t --tls-private-key-file=/k --token $TOKEN --password <PASSWORD>",
		"GITHUB_TOKEN_PATH=/run/token\nSSH_AUTH_SOCK=/tmp/x\nTOKENIZERS_PARALLELISM=false\nOLDPWD=/root\nPWD=/\n",
	} {
		if out := redact.Bytes([]byte(in)); string(out) != in {
			t.Errorf("changed:\n%s\n%s", in, out)
		}
	}
}

// doHold matches test data files with invented secrets that must be redacted: the manifest of
// a Secret, a password of a chart, and signed requests with the keys that signed them.
var doHold = regexp.MustCompile(`/shop/(templates/secret|values)\.yaml$|/sigv4-[a-z]+\.json$`)

// The recorded tool output in the repository has no secret: redaction must not change a
// byte of it, because verdicts are derived from it.
func TestOutputsOfToolsAreUnchanged(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "/testdata/") || doHold.MatchString(path) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if out := redact.Bytes(data); !bytes.Equal(out, data) {
			t.Errorf("%s is changed:\n%s", path, cmp.Diff(string(data), string(out)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 150 {
		t.Errorf("only %d files checked", files)
	}
}

func FuzzBytes(f *testing.F) {
	for _, p := range plants() {
		f.Add([]byte(p.in))
	}
	f.Add([]byte(`{"kind":"Secret","data":{"a":{"b":"c"}},"data":"x"}`))
	f.Add([]byte("- kind: Secret\n  data:\n  - a: b\n"))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----"))
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		out := redact.Bytes(in)
		if !bytes.Equal(in, was) {
			t.Error("the input was changed")
		}
		if json.Valid(in) && !json.Valid(out) {
			t.Errorf("no longer JSON: %s", out)
		}
		if again := redact.Bytes(out); !bytes.Equal(again, out) {
			t.Errorf("redacted again:\n%q\n%q", out, again)
		}
	})
}

// A token is found at any position.
func FuzzPlanted(f *testing.F) {
	f.Add("a ", " b")
	f.Add(`{"x":"`, `"}`)
	f.Add("x: ", "\ny: z\n")
	f.Add("- '", "'")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "redacted") || strings.ContainsAny(before, "\\") {
			return
		}
		for _, secret := range []string{jwt, github, ngc, hf} {
			if c := before; c != "" && regexp.MustCompile(`[A-Za-z0-9_]$`).MatchString(c) {
				return // it is part of a word
			}
			if out := redact.String(before + secret + after); strings.Contains(out, secret) {
				t.Errorf("left in %q", out)
			}
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	var pods []any
	for range 2000 {
		pods = append(pods, map[string]any{"metadata": map[string]any{"name": "worker-0", "labels": map[string]string{"app": "training", "key": "value"}},
			"spec": map[string]any{"automountServiceAccountToken": true, "nodeName": "gpu-01", "containers": []any{map[string]any{"name": "c", "image": "nvcr.io/nvidia/pytorch:25.01"}}}})
	}
	data := mustJSON(map[string]any{"kind": "PodList", "items": pods})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		redact.Bytes(data)
	}
}
