package redact

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// rule redacts the last group of what its pattern matches. Needles, in lower
// case, are a quick look at whether it may match at all.
type rule struct {
	kind    string
	needles []string
	// named: it may match a text with one of secretWords, instead of needles.
	named   bool
	pattern *regexp.Regexp
	// judge says what kind the match is, from its first group, which is a name
	// where there is one, and its last; empty: leave it. Nil: the rule's kind.
	judge func(name, value string) string
	// quote puts quotes around the mark where the value has none: YAML.
	quote bool
}

// may reports whether the rule may match a text in lower case; named: it has one of secretWords.
func (r rule) may(lower *searched, named bool) bool {
	return r.named && named || lower.hasOne(r.needles)
}

func (r rule) apply(in []byte) []byte {
	var edits []edit
	for _, m := range r.pattern.FindAllSubmatchIndex(in, -1) {
		start, end := lastGroup(m)
		value := string(in[start:end])
		if !worth(value) {
			continue
		}
		kind := r.kind
		if r.judge != nil {
			if kind = r.judge(string(in[m[2]:m[3]]), value); kind == "" {
				continue
			}
		}
		with := mark(kind)
		if quoted := start > 0 && (in[start-1] == '"' || in[start-1] == '\''); r.quote && !quoted {
			with = `"` + with + `"`
		}
		edits = append(edits, edit{start, end, []byte(with)})
	}
	return applied(in, edits)
}

// lastGroup is where the last group that matched is.
func lastGroup(m []int) (start, end int) {
	for i := len(m) - 2; i > 0; i -= 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// secretWords are words that names of secrets contain.
var secretWords = []string{"secret", "token", "pass", "key", "auth", "credential", "cookie", "connectionstring", "pwd", ".docker"}

// tokenRule knows tokens by how they begin.
var tokenRule = rule{
	kind: "token",
	needles: []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "nvapi-", "hf_", "xox", "dckr_pat_", "aiza", "ya29.", "sk-",
		"sha256~", "age-secret-key", "npm_", "pypi-", "akia", "asia", "hvs.", "hvb.", "hvr.", "tskey-", "dop_v1_", "doo_v1_", "dor_v1_", "hooks.slack.com",
	},
	pattern: regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}|nvapi-[A-Za-z0-9_-]{20,}|` +
		`hf_[A-Za-z0-9]{30,}|xox[abeprs]-[A-Za-z0-9-]{10,}|dckr_pat_[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|` +
		`sk-[A-Za-z0-9_-]{32,}|sha256~[A-Za-z0-9_-]{43}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|npm_[A-Za-z0-9]{36,}|pypi-[A-Za-z0-9_-]{50,}|` +
		`hv[sbr]\.[A-Za-z0-9_-]{20,}|tskey-[A-Za-z0-9-]{20,}|do[opr]_v1_[a-f0-9]{40,}|` +
		`hooks\.slack\.com/services/[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{16,}|` +
		`(?:AKIA|ASIA)[A-Z0-9]{16}\b)`),
}

var rules = []rule{
	{
		kind: "jwt", needles: []string{"eyj"},
		pattern: regexp.MustCompile(`(eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){1,3})`),
	},
	tokenRule,
	{
		kind: kindHeader, needles: []string{"authorization"},
		pattern: regexp.MustCompile(`(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token|negotiate|digest|apikey|aws4-hmac-sha256)\s+([^"'\r\n\\]+)`),
	},
	{
		kind: "bearer", needles: []string{"bearer"},
		pattern: regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})`),
		judge: func(_, value string) string {
			if strings.ContainsAny(value, "0123456789") {
				return "bearer"
			}
			return ""
		},
	},
	{
		kind: kindHeader, needles: []string{"basic"},
		pattern: regexp.MustCompile(`(?i)\bbasic\s+([A-Za-z0-9+/]{8,}={0,2})`),
		judge: func(_, value string) string {
			if decoded, err := base64.StdEncoding.DecodeString(value); err != nil || !strings.Contains(string(decoded), ":") || !ascii(decoded) {
				return ""
			}
			return kindHeader
		},
	},
	{
		kind: kindPassword, needles: []string{"://"},
		pattern: regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/@:"'<>\\]*:([^\s/"'<>\\]+)@`),
	},
	{ // a password with a slash in it, and no port with a path
		kind: kindPassword, needles: []string{"://"},
		pattern: regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://([^\s/@:"'<>\\]*):([^\s@"'<>\\]*/[^\s@"'<>\\]*)@`),
		judge: func(_, value string) string {
			if portAndPath.MatchString(value) {
				return ""
			}
			return kindPassword
		},
	},
	{ // a token in the place of a user
		kind: kindToken, needles: []string{"://"},
		pattern: regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]*://()([A-Za-z0-9_-]{20,})@`),
		judge: func(_, value string) string {
			if strings.ContainsAny(value, "0123456789") && strings.Trim(value, "0123456789") != "" {
				return kindToken
			}
			return ""
		},
	},
	{ // Azure's connection strings
		kind: kindCredential, needles: []string{"accountkey=", "sharedaccesskey=", "sharedaccesssignature="},
		pattern: regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/=%_-]{20,})`),
	},
	{ // the management key of an InfiniBand port; zero means no key
		kind: "m-key", needles: []string{"m_key"},
		pattern: regexp.MustCompile(`\bM_Key:[.\s]*0x()([0-9a-fA-F]{16})\b`),
		judge: func(_, value string) string {
			if strings.Trim(value, "0") == "" {
				return ""
			}
			return "m-key"
		},
	},
	{
		kind: "signature", needles: []string{"x-amz-", "sig=", "token=", "key="},
		pattern: regexp.MustCompile(`(?i)[?&](?:x-amz-signature|x-amz-security-token|x-amz-credential|sig|access_token|token|api_?key)=([^&\s"'\\]+)`),
	},
	{
		kind: "command-line", needles: []string{"--"},
		pattern: regexp.MustCompile(`(?i)--(?:[a-z0-9-]*(?:token|password|passwd|passphrase|secret|api-?key|access-?key|private-?key|certificate-key)|(?:[a-z0-9-]+-)?pass)` +
			`(?:=|[ \t]+)(?:"([^"\\\r\n\[][^"\\\r\n]*)"|'([^'\\\r\n\[][^'\\\r\n]*)'|\\?["']?([^\s"'\\\[-][^\s"'\\]*))`),
	},
	{
		kind: "command-line", needles: []string{"--"},
		pattern: regexp.MustCompile(`(?i)--[a-z0-9-]*(?:token|password|passwd|passphrase|secret|api-?key|access-?key)=(-[^\s"'\\]+)`),
	},
	{ // the next item of a list
		kind: "command-line", needles: []string{"--"},
		pattern: regexp.MustCompile(`(?i)--(?:[a-z0-9-]*(?:token|password|passwd|passphrase|secret|api-?key|access-?key)|(?:[a-z0-9-]+-)?pass)\\?["']?(?:,[ \t]*|[ \t]*\r?\n[ \t]*-[ \t]+)\\?["']?([^\s"'\\,\]\[-][^\s"'\\,\]]*)`),
	},
	{
		kind: "command-line", needles: []string{"curl", "wget"},
		pattern: regexp.MustCompile(`\b(?:curl|wget)\b[^\r\n|;&]*?\s(?:-u|--user|--proxy-user)[ =]*["']?[^\s:"']+:([^\s"'\[][^\s"']*)`),
	},
	{
		kind: "command-line", needles: []string{"ipmitool", "sshpass"},
		pattern: regexp.MustCompile(`(?:\bipmitool\b[^\r\n|;&]*?\s-P|\bsshpass[ \t]+-p)[ \t]*["']?([^\s"'\[][^\s"']*)`),
	},
	{
		kind: kindPassword, needles: []string{"machine"},
		pattern: regexp.MustCompile(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S+)`),
	},
	{ // "name": "value" outside a complete document
		named:   true,
		pattern: regexp.MustCompile(`"([^"\\\s]{1,100})"\s*:\s*"((?:[^"\\]|\\.)+)"`),
		judge:   keyKind,
	},
	{ // \"name\": \"value\" in a string of such
		named:   true,
		pattern: regexp.MustCompile(`\\"([^"\\\s]{1,100})\\"\s*:\s*\\"([^"\\]+)`),
		judge:   keyKind,
	},
	{ // environment as lists of name and value have it
		needles: []string{"value:"}, // nvidia-smi prints <value>
		pattern: regexp.MustCompile(`(?m)^[ \t]*(?:- )?name:[ \t]*["']?([A-Za-z0-9_.-]+)["']?[ \t]*\r?\n[ \t]*value:[ \t]*["']?([^"'\r\n]+)`),
		judge:   envKind,
		quote:   true,
	},
	{ // key: value of YAML and of headers
		named:   true,
		pattern: regexp.MustCompile(`(?m)^[ \t]*(?:- )?["']?([A-Za-z0-9_.-]{1,100})["']?[ \t]*:[ \t]+["']?([^"'\r\n]*[^"'\s])`),
		judge: func(name, value string) string {
			if strings.ContainsAny(value[:1], "{[|>&*!") {
				return ""
			}
			return keyKind(name, value)
		},
		quote: true,
	},
	{ // "name": 123 outside a complete document
		named:   true,
		pattern: regexp.MustCompile(`"([^"\\\s]{1,100})"\s*:\s*(-?[0-9]+)`),
		judge: func(name, value string) string {
			if kind := keyKind(name, value); kind == kindPassword {
				return kind
			}
			return ""
		},
		quote: true,
	},
	{ // key = value of INI files
		named:   true,
		pattern: regexp.MustCompile(`(?m)^[ \t]*([A-Za-z0-9_.-]{1,100})[ \t]+=[ \t]*["']?([^\s"']+)`),
		judge:   keyKind,
	},
	{ // NAME=value alone on its line, or before a command
		named:   true,
		pattern: regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?([A-Z_][A-Z0-9_]{0,100})=([^\s"'\[][^\s"']*)`),
		judge:   envKind,
	},
	{ // NAME=value
		named:   true,
		pattern: regexp.MustCompile("(?m)(?:^|[\\s\"'`;,{(\\[])([A-Za-z_][A-Za-z0-9_.-]{0,100})=(?:\"([^\"\\r\\n]*)\"|'([^'\\r\\n]*)'|([^\\s\"';,})\\]]+))"),
		judge:   envKind,
	},
}

// portAndPath is what follows a host.
var portAndPath = regexp.MustCompile(`^[0-9]{1,5}/`)

func ascii(data []byte) bool {
	return !slices.ContainsFunc(data, func(c byte) bool { return c < ' ' || c > '~' })
}

// base64PEM is "-----BEGIN " in base64, and what follows.
var base64PEM = regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/]+={0,2}(?:\r?\n[ \t]*[A-Za-z0-9+/]{40,}={0,2})*(?:\r?\n[ \t]*[A-Za-z0-9+/]*={1,2})?`)

// privateKeys cuts keys out of PEM: up to its end, or as far as there is base64
// when the end is missing.
func privateKeys(in []byte, lower *searched) []byte {
	if lower.has("private key") {
		in = pemKeys(in)
	}
	if !bytes.Contains(in, []byte("LS0tLS1CRUdJTi")) {
		return in
	}
	return base64PEM.ReplaceAllFunc(in, func(m []byte) []byte {
		bare := strings.TrimRight(strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n", r) {
				return -1
			}
			return r
		}, string(m)), "=")
		decoded, _ := base64.RawStdEncoding.DecodeString(bare) // as far as it goes
		if bytes.Contains(decoded, []byte("PRIVATE KEY")) {
			return []byte(mark(kindKey))
		}
		return m
	})
}

var (
	pemBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----`)
	pemNext  = regexp.MustCompile(`-----(BEGIN|END) [A-Z0-9 ]{1,80}-----`)
	pemBody  = regexp.MustCompile(`^(?:\s*(?:Proc-Type|DEK-Info): [^\r\n]*)*(?:[A-Za-z0-9+/=\s]|\\[nrt])*`)
)

func pemKeys(in []byte) []byte {
	var edits []edit
	at := 0
	for {
		m := pemBegin.FindIndex(in[at:])
		if m == nil {
			return applied(in, edits)
		}
		start, body := at+m[0], at+m[1]
		end := body + len(bytes.TrimRight(pemBody.Find(in[body:]), " \t\r\n"))
		if next := pemNext.FindSubmatchIndex(in[body:]); next != nil && string(in[body+next[2]:body+next[3]]) == "END" {
			end = body + next[1]
		}
		edits = append(edits, edit{start, end, []byte(mark(kindKey))})
		at = end
	}
}

// bootstrapTokens cuts kubeadm's out: six characters, a dot, sixteen. That many
// letters and digits alone, in the midst of nothing else.
func bootstrapTokens(in []byte) []byte {
	var edits []edit
	for at := 0; ; at++ {
		i := bytes.IndexByte(in[at:], '.')
		if i < 0 {
			return applied(in, edits)
		}
		at += i
		start, end := at-6, at+17
		if start < 0 || end > len(in) || !bootstrap(in[start:at]) || !bootstrap(in[at+1:end]) {
			continue
		}
		if start > 0 && partOfName(in[start-1]) || end < len(in) && partOfName(in[end]) && !fullStop(in[end:]) {
			continue
		}
		token := in[start:end]
		if bytes.ContainsAny(token, "0123456789") && bytes.ContainsAny(token, "abcdefghijklmnopqrstuvwxyz") {
			edits = append(edits, edit{start, end, []byte(mark("bootstrap-token"))})
			at = end - 1
		}
	}
}

func bootstrap(part []byte) bool {
	return !slices.ContainsFunc(part, func(c byte) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
}

func partOfName(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// fullStop says that rest begins with one that ends a sentence.
func fullStop(rest []byte) bool {
	return rest[0] == '.' && (len(rest) == 1 || bytes.IndexByte([]byte(" \t\r\n\"'"), rest[1]) >= 0)
}
