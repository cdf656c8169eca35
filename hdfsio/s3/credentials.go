// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gvw-project/gvw/hdfsio/remote"
	"github.com/gvw-project/gvw/hdfsio/web"
)

const (
	// roleTimeout is the limit for each request for the credentials of a role. A machine without
	// roles may not respond at all.
	roleTimeout = 2 * time.Second
	// tokenTries and tokenTimeout limit the requests for a token of the machine's metadata service. A
	// machine without this service waits at most tokenTimeout.
	tokenTries   = 3
	tokenTimeout = 3 * time.Second
	// tokenPause is the time before the second of these requests; it doubles before the third.
	tokenPause = 100 * time.Millisecond
	// renewBefore is the time before the end of credentials at which they are renewed.
	renewBefore = 5 * time.Minute
	// retryAfter is the time after a failed renewal during which old keys are used without another attempt.
	retryAfter = 10 * time.Second
	// noneFor is the time during which requests are anonymous before keys are looked for again: a
	// service may have missed a request.
	noneFor = time.Minute
)

// keys are credentials; without an id requests are anonymous.
type keys struct {
	id, secret, token string
	until             time.Time // zero: for ever
}

// chain finds credentials, in this order: the environment, the profile in ~/.aws, a web identity
// (Kubernetes), the role of the container (ECS), and that of the machine (EC2).
type chain struct {
	env  func(string) string
	http *http.Client

	mu   sync.Mutex
	keys keys
	look time.Time // time at which keys are looked for again; zero with keys: never
	more bool      // whether again has looked since get found no keys
}

func newChain(env func(string) string) *chain {
	return &chain{env: env, http: &http.Client{Transport: remote.Transport(), Timeout: roleTimeout}}
}

// get returns credentials that are valid for a while.
func (c *chain) get() (keys, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current()
}

// again looks for keys after the server has refused a request without keys. It returns nil if there are
// still none, and otherwise the error of that request. It looks only once after get has found no keys, so
// that not every refusal has to wait for a service that does not exist.
func (c *chain) again() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys.id == "" && !c.more {
		c.look = time.Time{}
		if _, err := c.current(); err != nil {
			return err
		}
		c.more = true
	}
	if c.keys.id == "" {
		return nil
	}
	return &lateKeysError{}
}

// lateKeysError reports a request without keys that was refused before keys were found. The next request has keys.
type lateKeysError struct{}

func (*lateKeysError) Error() string {
	return "the request was refused because it had no credentials, which are found now"
}

// Transient reports true.
func (*lateKeysError) Transient() bool { return true }

// current returns the keys, and looks for new ones if that is due. The caller holds c.mu.
func (c *chain) current() (keys, error) {
	now := time.Now()
	if now.Before(c.look) || c.look.IsZero() && c.keys.id != "" {
		return c.keys, nil
	}
	k, err := c.find()
	if err == nil && k.id == "" && c.keys.id != "" {
		err = fmt.Errorf("the keys until %s cannot be renewed: no service has new ones", c.keys.until.UTC().Format(time.RFC3339))
	}
	switch {
	case err != nil && now.Before(c.keys.until):
		c.look = now.Add(min(retryAfter, c.keys.until.Sub(now)))
		return c.keys, nil
	case err != nil:
		return keys{}, fmt.Errorf("credentials for S3: %w", err)
	}
	c.keys, c.look = k, time.Time{}
	switch {
	case k.id == "":
		c.look, c.more = now.Add(noneFor), false
	case !k.until.IsZero():
		c.look = k.until.Add(-renewBefore)
	}
	return k, nil
}

// find asks the chain for new credentials.
func (c *chain) find() (keys, error) {
	for _, from := range []func() (keys, error){c.environment, c.file, c.webIdentity, c.container, c.machine} {
		if k, err := from(); err != nil || k.id != "" {
			return k, err
		}
	}
	return keys{}, nil
}

func (c *chain) environment() (keys, error) {
	k := keys{id: c.env("AWS_ACCESS_KEY_ID"), secret: c.env("AWS_SECRET_ACCESS_KEY"), token: c.env("AWS_SESSION_TOKEN")}
	if (k.id == "") != (k.secret == "") {
		return k, fmt.Errorf("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together")
	}
	return k, nil
}

// file returns the keys of the user's profile, all from one file.
func (c *chain) file() (k keys, err error) {
	for _, in := range c.profiles() {
		k = keys{id: in.value("aws_access_key_id"), secret: in.value("aws_secret_access_key"), token: in.value("aws_session_token")}
		if (k.id == "") != (k.secret == "") {
			return k, fmt.Errorf("[%s] in %s has only one of aws_access_key_id and aws_secret_access_key, which go together", in.name, in.file)
		}
		if k.id != "" {
			return k, nil
		}
	}
	if p := c.env("AWS_PROFILE"); p != "" && c.env("AWS_WEB_IDENTITY_TOKEN_FILE") == "" {
		return k, fmt.Errorf("the profile %s (AWS_PROFILE) in ~/.aws has no aws_access_key_id: gvw logs in with keys or roles; aws configure export-credentials prints temporary keys", p)
	}
	return keys{}, nil
}

// profile returns a value of the user's profile, "" if there is none.
func (c *chain) profile(name string) string {
	for _, in := range c.profiles() {
		if value := in.value(name); value != "" {
			return value
		}
	}
	return ""
}

// section is a section of an INI file.
type section struct {
	file, name string
	text       []byte // of the file
}

// profiles returns the sections of the user's profile. Values of the first have precedence.
func (c *chain) profiles() (all []section) {
	profile := cmp.Or(c.env("AWS_PROFILE"), "default")
	inConfig := "profile " + profile
	if profile == "default" {
		inConfig = profile
	}
	dir := filepath.Join(c.env("HOME"), ".aws")
	for _, s := range []section{
		{file: cmp.Or(c.env("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(dir, "credentials")), name: profile},
		{file: cmp.Or(c.env("AWS_CONFIG_FILE"), filepath.Join(dir, "config")), name: inConfig},
	} {
		var err error
		if s.text, err = os.ReadFile(s.file); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// value returns the value of a name, "" if there is none.
func (s section) value(name string) string {
	in := false
	for lines := bufio.NewScanner(bytes.NewReader(s.text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			in = strings.TrimSpace(strings.Trim(line, "[]")) == s.name
			continue
		}
		if key, value, ok := strings.Cut(line, "="); in && ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// webIdentity exchanges the token of a service account for keys.
func (c *chain) webIdentity() (k keys, err error) {
	file := c.env("AWS_WEB_IDENTITY_TOKEN_FILE")
	if file == "" {
		return k, nil
	}
	token, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	region := cmp.Or(c.env("AWS_REGION"), c.env("AWS_DEFAULT_REGION"), "us-east-1")
	base := cmp.Or(c.env("AWS_ENDPOINT_URL_STS"), "https://sts."+region+".amazonaws.com")
	form := url.Values{ // in the body: URLs appear in logs
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {c.env("AWS_ROLE_ARN")},
		"RoleSessionName": {cmp.Or(c.env("AWS_ROLE_SESSION_NAME"), "gvw")}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	}
	text, err := c.fetch(context.Background(), http.MethodPost, base+"/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, strings.NewReader(form.Encode()))
	if err != nil {
		return k, fmt.Errorf("the web identity in %s: %w", file, stsError(text, err))
	}
	var answer struct {
		Credentials struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      time.Time
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	err = xml.Unmarshal(text, &answer)
	a := answer.Credentials
	return keys{a.AccessKeyID, a.SecretAccessKey, a.SessionToken, a.Expiration}, err
}

// stsError adds the reason in the body of a response of STS to its error. STS reports with status 400 what a retry can succeed at, too.
func stsError(body []byte, err error) error {
	var reason struct {
		Code    string `xml:"Error>Code"`
		Message string `xml:"Error>Message"`
	}
	if xml.Unmarshal(body, &reason) != nil || reason.Code == "" {
		return err
	}
	switch reason.Code {
	case "Throttling", "ThrottlingException", "RequestLimitExceeded", "IDPCommunicationError":
		return &web.StatusError{Code: http.StatusTooManyRequests, Status: reason.Code + ": " + reason.Message}
	}
	return fmt.Errorf("%w (%s: %s)", err, reason.Code, reason.Message)
}

func (c *chain) container() (k keys, err error) {
	at := c.env("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := c.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		at = "http://169.254.170.2" + path
	}
	if at == "" {
		return k, nil
	}
	token := c.env("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := c.env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return k, err
		}
		token = strings.TrimSpace(string(text))
	}
	text, err := c.fetch(context.Background(), http.MethodGet, at, http.Header{"Authorization": {token}}, nil)
	if err != nil {
		return k, fmt.Errorf("the role of the container: %w", err)
	}
	return parseRole(text)
}

// machine asks the metadata service of EC2. Elsewhere there is none, which is no error unless it
// has had keys.
func (c *chain) machine() (k keys, err error) {
	if c.env("AWS_EC2_METADATA_DISABLED") == "true" {
		return k, nil
	}
	base := cmp.Or(c.env("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254")
	token, err := c.machineToken(base)
	if err != nil {
		return k, c.lost(err)
	}
	const roles = "/latest/meta-data/iam/security-credentials/"
	header := http.Header{"X-aws-ec2-metadata-token": {string(token)}}
	role, err := c.fetch(context.Background(), http.MethodGet, base+roles, header, nil)
	switch {
	case err != nil && remote.Transient(err): // there is a service, so there may be a role
		return k, fmt.Errorf("the role of the machine: %w", err)
	case err != nil:
		return k, c.lost(err) // or the machine has no role
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	text, err := c.fetch(context.Background(), http.MethodGet, base+roles+name, header, nil)
	if err != nil {
		return k, fmt.Errorf("the role %s of the machine: %w", name, err)
	}
	return parseRole(text)
}

// machineToken returns a token of the metadata service. A service may miss a request or refuse it for a moment.
func (c *chain) machineToken(base string) (token []byte, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), tokenTimeout)
	defer cancel()
	for try := range tokenTries {
		token, err = c.fetch(ctx, http.MethodPut, base+"/latest/api/token", http.Header{"X-aws-ec2-metadata-token-ttl-seconds": {"300"}}, nil)
		if err == nil || !remote.Transient(err) || try == tokenTries-1 || ctx.Err() != nil {
			break
		}
		time.Sleep(tokenPause << try)
	}
	return token, err
}

// lost returns err if there were keys, nil otherwise.
func (c *chain) lost(err error) error {
	if c.keys.id == "" {
		return nil
	}
	return fmt.Errorf("the role of the machine: %w", err)
}

// parseRole parses the credentials of a role.
func parseRole(text []byte) (keys, error) {
	var a struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		Expiration      time.Time
	}
	err := json.Unmarshal(text, &a)
	return keys{a.AccessKeyID, a.SecretAccessKey, a.Token, a.Expiration}, err
}

// fetch makes a request and returns the body of the response. Errors are without the URL, which may
// have a secret.
func (c *chain) fetch(ctx context.Context, method, at string, header http.Header, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, withoutURL(err)
	}
	req.Header = header
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		refused := &web.StatusError{Code: resp.StatusCode, Status: resp.Status}
		if err = refused; !refused.Transient() {
			err = errors.New(refused.Error()) // no fs.ErrPermission or fs.ErrNotExist, which are about the object
		}
	}
	return text, err
}

func withoutURL(err error) error {
	if uerr, ok := errors.AsType[*url.Error](err); ok {
		return uerr.Err
	}
	return err
}
