package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Kinds of names. A value with a password name is always a secret; "token" and
// "secret" have other meanings too, so their values must also look like a secret.
const (
	kindPassword   = "password"
	kindToken      = "token"
	kindCredential = "credential"
	kindKey        = "private-key"
	kindAuth       = "registry-auth"
	kindEnv        = "environment"
	kindHeader     = "authorization"
)

// exact are keys that hold a credential, in lower case and without separators.
var exact = map[string]string{
	"clientkeydata": kindKey, "privatekey": kindKey, "tls.key": kindKey, "sshprivatekey": kindKey,
	"auth": kindAuth, "identitytoken": kindAuth, "registrytoken": kindAuth, ".dockerconfigjson": kindAuth, ".dockercfg": kindAuth,
	"secretaccesskey": kindCredential, "awssecretaccesskey": kindCredential, "secretkey": kindCredential, "apikey": kindCredential,
	"xapikey": kindCredential, "cookie": kindCredential, "setcookie": kindCredential, "connectionstring": kindCredential,
	"authorization": kindHeader, "proxyauthorization": kindHeader,
	"accountkey": kindCredential, "sharedkey": kindCredential, "signingkey": kindCredential, "encryptionkey": kindCredential,
}

// passwords and tokens are last words of keys.
var (
	passwords = []string{"password", "passwd", "passphrase", "passcode"}
	tokens    = []string{"token"}
	secrets   = []string{"secret"}
)

// notTheSecret are last words that make a name one of something about a secret.
var notTheSecret = []string{
	"file", "path", "dir", "name", "names", "namespace", "ref", "ttl", "url", "uri", "endpoint", "type", "length", "len",
	"count", "size", "limit", "id", "mode", "enabled", "disabled", "expiry", "expiration", "seconds", "version", "algorithm",
}

var (
	separators = strings.NewReplacer("_", "", "-", "", " ", "")
	camel      = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	envName    = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// wordsOf splits clientSecret, client-secret and CLIENT_SECRET into client, secret.
func wordsOf(name string) []string {
	name = strings.ToLower(camel.ReplaceAllString(name, "${1}_${2}"))
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("_-./ ", r) })
}

// keyKind says what the value of a key in a document is; empty: nothing secret.
func keyKind(name, value string) string {
	if len(name) > 200 || !mayNameSecret(name) || !worth(value) {
		return ""
	}
	if kind, ok := exact[separators.Replace(strings.ToLower(name))]; ok {
		return exactKind(kind, value)
	}
	if envName.MatchString(name) {
		return envKind(name, value)
	}
	words := wordsOf(name)
	if len(words) == 0 {
		return ""
	}
	switch last := words[len(words)-1]; {
	case slices.Contains(passwords, last):
		return kindPassword
	case slices.Contains(tokens, last) && len(value) >= 12 && !strings.ContainsAny(value, " \t\n<"):
		return kindToken
	case slices.Contains(secrets, last) && random(value):
		return kindCredential
	}
	return ""
}

// exactKind is the kind, unless the value can not be one.
func exactKind(kind, value string) string {
	switch {
	case kind == kindAuth && len(value) < 8:
		return ""
	case kind == kindHeader && (strings.Contains(value, markStart) || strings.Contains(value, "<")):
		return ""
	}
	return kind
}

// envKind returns the kind of secret in an environment variable: the name is a secret's
// name, and the value can be a secret.
func envKind(name, value string) string {
	if !mayNameSecret(name) || !worth(value) {
		return ""
	}
	words := wordsOf(name)
	if len(words) == 0 || slices.Contains(notTheSecret, words[len(words)-1]) {
		return ""
	}
	env := envName.MatchString(name)
	for i, w := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		if isPassword(w, before) || env && passWord(w, before) {
			return kindEnv
		}
		if env && i == len(words)-1 && isAuth(w, before, value) {
			return kindEnv
		}
		if envWord(w, before, value, env && (w != "key" || len(words) > 1)) {
			return kindEnv
		}
	}
	return ""
}

// isPassword says that a word of a variable's name, after another, is one for a password.
func isPassword(w, before string) bool {
	return slices.Contains(passwords, w) || w == "pwd" && before != "" && before != "old"
}

// isAuth says that the last word of a variable's name, after another, is of a credential,
// and not of a way to authenticate.
func isAuth(w, before, value string) bool {
	return w == "auth" && before != "" && len(value) >= 6 && !slices.Contains(authModes, strings.ToLower(value))
}

// authModes are values of a variable that ends in AUTH that are not secrets.
var authModes = []string{"bearer", "kerberos", "negotiate", "digest", "x509", "certificate", "serviceaccount", "enabled", "disabled", "required", "optional"}

// passWord says that a word of a variable's name ends in one for a password: PGPASSWORD,
// SSHPASS, DB_PASS; not BYPASS.
func passWord(word, before string) bool {
	for _, end := range passwords {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	if word == "pass" {
		return before != ""
	}
	return strings.HasSuffix(word, "pass") && !strings.HasSuffix(word, "bypass") && word != "compass" && word != "multipass"
}

// envWord reports whether a word of a name makes it the name of a secret; before is the
// word before it, env marks the name of an environment variable.
func envWord(word, before, value string, env bool) bool {
	switch word {
	case "secret", "secrets", "credential", "credentials", "apikey":
		return env || !number(value)
	case "token":
		return !number(value) && (env || len(value) >= 12)
	case "key":
		return !number(value) && (env || slices.Contains([]string{"api", "access", "private", "secret", "signing"}, before))
	}
	return false
}

// mayNameSecret is a quick test: false means that the name does not name a secret.
func mayNameSecret(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(lower, word) })
}

// worth reports whether a value can be a secret and was not redacted before:
// not empty, not yes or no, not a placeholder.
func worth(value string) bool {
	v := strings.ToLower(strings.TrimSpace(value))
	switch v {
	case "", "true", "false", "yes", "no", "null", "none", "nil", "~", "{}", "[]", "|", ">", "|-", ">-", "string", "strings", "value":
		return false
	}
	bare := strings.TrimSpace(markStart)
	return !strings.HasPrefix(v, bare) && !strings.HasPrefix(v, `"`+bare) && !strings.HasPrefix(v, "<") &&
		!strings.HasPrefix(v, "$") && strings.Trim(v, "*x.") != ""
}

func number(v string) bool { return strings.Trim(v, "0123456789.") == "" }

// random says that a value looks drawn by chance, and not like a name.
func random(v string) bool {
	if len(v) < 20 || strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=_-") != "" {
		return false
	}
	if strings.Trim(v, "0123456789abcdef") == "" || strings.Trim(v, "0123456789ABCDEF") == "" {
		return len(v) >= 32 && strings.ContainsAny(v, "0123456789") && strings.ContainsAny(v, "abcdefABCDEF")
	}
	return strings.ContainsAny(v, "0123456789") && strings.ToLower(v) != v && strings.ToUpper(v) != v
}
