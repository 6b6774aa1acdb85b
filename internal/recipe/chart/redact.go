package chart

import (
	"net/url"
	"regexp"
	"strings"
)

var address = regexp.MustCompile(`\b[a-z][a-z0-9+.-]*://[^\s"'<>]+`)

// maxReason limits error messages, in bytes: servers may answer with HTML pages.
const maxReason = 400

// redact formats an error on one line without credentials in URLs: user names, passwords and
// tokens of signed URLs.
func redact(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = address.ReplaceAllStringFunc(text, func(found string) string {
		bare := strings.TrimRight(found, ".,:;)")
		u, err := url.Parse(bare)
		if err != nil {
			scheme, _, _ := strings.Cut(found, "://")
			return scheme + "://(address)" + found[len(bare):]
		}
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String() + found[len(bare):]
	})
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " ..."
	}
	return text
}
