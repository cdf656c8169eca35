// SPDX-License-Identifier: Apache-2.0

package deptest

// wait is the reason why a wait ends. A user can find out what a wait with a deadline of ten
// seconds or more waits for: a log, an error or gvw jobs shows a text.
type wait struct {
	ends  ending
	by    string // deadline, short: what bounds it, as names in the code
	shown string // deadline: a part of that text
	why   string // all others: the reason
	n     int    // number of waits of this kind in the function; 0: one
}

// ending is the kind of a wait's end.
type ending int

const (
	deadline ending = iota + 1 // a limit of time
	short                      // a limit of less than ten seconds, which need not be shown
	joined                     // it waits for goroutines of this process, whose own waits have rows
	local                      // it waits for work of this process that waits for nothing outside
	asked                      // a context or a user determines the time
)

// waits are the waits without a timer of their own: "package: function kind".
var waits = map[string]wait{
	// Collectives: the watchdog of an engine ends them, and logs the rank that they wait for.
	"allreduce/internal/engine: Edge.Written lock":     {ends: local, why: "progress sends to Done, which has room for one"},
	"allreduce/internal/engine: Edge.join lock":        {ends: local, why: "progress sends to Done, which has room for one"},
	"allreduce/internal/engine: Engine.InterHost lock": {ends: local, why: "progress sends to Done, which has room for one"},
	"allreduce/internal/engine: Engine.begin lock":     {ends: local, why: "progress sends to Done, which has room for one"},
	"allreduce/internal/engine: Engine.progress send":  {ends: local, why: "Done has room for one, and a collective ends once"},
	"allreduce/internal/engine: Engine.Finish join":    {ends: short, by: "FlushWithin"},
	"allreduce/internal/engine: Engine.Join join":      {ends: joined, why: "a failed or finished engine ends its driver and its watchdog"},

	// Links: the owner of a set of links ends their waits, as the watchdog of an engine does.
	"internal/link: Link.receiveUpgrade lock":        {ends: local, why: "opening shared memory waits for no peer"},
	"internal/link/netconn: Driver.Carry select":     {ends: asked, why: "the owner of the set watches its work; a failure, the end of the work or the context ends it"},
	"internal/link/netconn: Conn.Await select":       {ends: asked, why: "the owner of the set watches its work; a wake-up or a failure ends it"},
	"internal/link/netconn: Conn.write receive":      {ends: joined, why: "the next message or the end of the link wakes it"},
	"internal/link/netconn: Driver.Wait join":        {ends: joined, n: 2, why: "Stop closes the connections, which ends readers and writers"},
	"internal/link/netconn: Driver.FlushErrors join": {ends: short, by: "FlushWithin"},
	"internal/link/vwstream: reader.next lock":       {ends: local, why: "the lock is given back during the wait"},
	"internal/link/poll: Loop.Carry lock":            {ends: asked, why: "the owner of the set watches its work"},
	"internal/link/poll: Loop.FlushErrors lock":      {ends: short, by: "FlushWithin"},
	"internal/link/poll: Loop.Stop lock":             {ends: local, why: "flushVerbs writes only as much as the streams accept at once"},
	"internal/link/poll: Loop.Wait join":             {ends: joined, why: "the waker wakes the idle watcher, which then ends"},
	"internal/link/poll: Loop.Wait lock":             {ends: joined, why: "Stop has woken whatever held it"},

	// Epochs, steps and their end.
	"internal/mesh: dialOnce dial":                         {ends: short, by: "dialTimeout"},
	"internal/mesh: Epoch.End join":                        {ends: joined, why: "Close ends the connections under way, and their context"},
	"internal/mesh: Mesh.Close join":                       {ends: joined, why: "the listener and the context of all handshakes have ended"},
	"allreduce/internal/epoch: Epoch.watched join":         {ends: joined, why: "its context is cancelled first"},
	"allreduce/internal/epoch: Epoch.End join":             {ends: joined, why: "done is closed, and the wirer has ended"},
	"allreduce/internal/epoch: Epoch.watchEnd select":      {ends: joined, why: "it ends with the epoch"},
	"allreduce/internal/epoch: Epoch.Fail select":          {ends: short, by: "causeTimeout reportTimeout"},
	"allreduce/internal/epoch: Epoch.Err select":           {ends: asked, why: "the job decides; the context ends it, and resolve then takes its short limits"},
	"allreduce/internal/epoch: Epoch.Err receive":          {ends: short, by: "causeTimeout reportTimeout"},
	"allreduce: Group.register select":                     {ends: joined, why: "it ends with the group"},
	"allreduce: Group.Close join":                          {ends: joined, why: "the member, the mesh and the engine have ended"},
	"allreduce: Group.stepWork select":                     {ends: joined, why: "it ends with the work of a step"},
	"allreduce: Group.stepWork receive":                    {ends: local, why: "done is closed, so the goroutine ends"},
	"allreduce/internal/recovery: Steps.fetch receive":     {ends: local, why: "done is closed, so the goroutine ends"},
	"allreduce/internal/recovery: Steps.readFrom lock":     {ends: local, why: "a Machine's Commit computes; its state is to be locked"},
	"allreduce/internal/recovery: Steps.load lock":         {ends: asked, why: "only the start of this rank needs the state; the file system has its own limits"},
	"allreduce/internal/recovery: Steps.write receive":     {ends: local, why: "this goroutine has sent the value that it receives"},
	"allreduce/internal/recovery: Steps.Wait join":         {ends: asked, why: "the file system has its own limits; a lease of the server is waited for briefly"},
	"allreduce/internal/recovery: Steps.clear select":      {ends: asked, why: "the context of Group.Finish ends it; the file system has its own limits"},
	"allreduce/internal/recovery: Steps.clear send":        {ends: local, why: "the channel has room for one error"},
	"allreduce/internal/engine: FlightRecorder.Close join": {ends: short, by: "traceWithin"},

	// The server's client.
	"internal/spantree/client: Member.wait select":    {ends: asked, why: "each caller gives a context with its limit, and the loss of the server ends it"},
	"internal/spantree/client: Member.joinVW dial":    {ends: deadline, by: "StartTimeout", shown: "waiting for the job to "},
	"internal/spantree/client: endpoint.connect dial": {ends: deadline, by: "attemptTimeout", shown: "no answer within %v"},
	"internal/remote: Front select":                   {ends: joined, why: "the follower of the worker takes each word; otherwise the process ends"},
	"internal/remote: Tether.connect process":         {ends: joined, why: "the context of the connection has ended, which kills it; WaitDelay bounds its output"},
	"internal/remote: Tether.connect send":            {ends: local, why: "failed has room for one"},
	"internal/remote: front.start process":            {ends: asked, why: "the keeper outlives this process, with which the goroutine ends"},
	"internal/remote: readReports select":             {ends: joined, why: "the context ends with the connection"},
	"internal/remote: tether select":                  {ends: local, why: "the process has been killed"},
	"internal/run: addressFor dial":                   {ends: asked, why: "UDP sends nothing; the resolver of the system looks a name up, with its limits"},
	"internal/run: remoteHosts.copyProgram join":      {ends: joined, why: "copyWithin bounds the commands"},
	"internal/run: remoteHosts.copyProgram process":   {ends: asked, why: "the context has the limit copyWithin"},
	"internal/run/departure: Others.Leave join":       {ends: joined, why: "stop is closed"},
	"internal/spantree/client: Member.write lock":     {ends: short, by: "writeTimeout"},
	"internal/spantree/client: Member.replay lock":    {ends: short, by: "writeTimeout"},
	"internal/spantree/client: Member.Close join":     {ends: joined, n: 2, why: "stop is closed and so is the connection: reader and heartbeat end"},

	// The server.
	"internal/spantree/server: Server.Serve join":            {ends: joined, n: 2, why: "the context has ended and all connections were aborted"},
	"internal/spantree/server: Server.Close join":            {ends: joined, n: 2, why: "the listeners and all connections were closed"},
	"internal/spantree/server: Server.Close lock":            {ends: local, why: "closing a listener or a socket does not wait"},
	"internal/spantree/server: serverConn.serve join":        {ends: joined, why: "abort has ended the writer's connection"},
	"internal/spantree/server: serverConn.authenticate lock": {ends: local, why: "sealed wraps the connection and sends nothing"},
	"internal/spantree/server: stacks.run join":              {ends: local, why: "f computes on a stack of its own"},
	"internal/spantree/server: stacks.next select":           {ends: joined, why: "a function, an idle tick or close ends it"},
	"internal/spantree/server: stacks.close join":            {ends: joined, why: "the connections have ended, and quit is closed"},
	"internal/spantree/server: gatedConn.acquire select":     {ends: deadline, by: "HandshakeTimeout", shown: "other handshakes are in progress"},
	"internal/spantree/server: gatedConn.Read receive":       {ends: local, why: "it releases the place that it holds"},
	"internal/spantree/server: gatedConn.Read send":          {ends: local, why: "those that hold a place compute"},
	"internal/spantree/server: gatedConn.finish receive":     {ends: local, why: "it releases the place that it holds"},
	"internal/spantree/server: journalWriter.run range":      {ends: joined, why: "close ends it"},
	"internal/monitor/metrics: collector.Collect send":       {ends: local, why: "the registry receives every metric"},
	"internal/monitor/metrics: collector.Describe send":      {ends: local, why: "the registry receives every description", n: 3},
	"internal/monitor/metrics: collectTraffic send":          {ends: local, why: "the registry receives every metric", n: 2},
	"internal/record: Writer.Add lock":                       {ends: local, why: "it writes a line to a local file"},
	"internal/record: Writer.Close lock":                     {ends: local, why: "it closes a local file"},
	"internal/release: release.describe process":             {ends: asked, why: "the user who makes a release can interrupt the programs, which print their manual"},
	"internal/release: release.build process":                {ends: asked, why: "the user who makes a release can interrupt the compiler"},
	"internal/release: release.wheel process":                {ends: asked, why: "the user who makes a release can interrupt the build of the wheel"},
	"internal/release: run process":                          {ends: asked, why: "the user who makes a release can interrupt git", n: 2},
	"internal/typecheck: check process":                      {ends: asked, why: "the user who checks packages can interrupt go list"},
	"internal/spantree/server: faultWriter.run range":        {ends: joined, why: "close ends it"},
	"internal/spantree/server: startJournal select":          {ends: local, why: "the caller receives from done, or closes left"},

	// Transports, tags, drivers.
	"allreduce/auth: sealed.Read lock":                {ends: asked, why: "the connection has a deadline; only other readers take the lock"},
	"allreduce/auth: sealed.Write lock":               {ends: asked, why: "the connection has a deadline; only other writers take the lock"},
	"allreduce/transport: Acceptor.Accept accept":     {ends: asked, why: "a client may or may not connect; the owner closes the listener"},
	"allreduce/transport: tcp.Dial dial":              {ends: asked, why: "each caller gives a context with its limit"},
	"allreduce/transport/mem: conn.Read select":       {ends: asked, why: "the connection has a deadline, and may be closed"},
	"allreduce/transport/mem: conn.Write select":      {ends: asked, why: "the connection has a deadline, and may be closed"},
	"allreduce/transport/mem: listener.Accept select": {ends: asked, why: "the owner closes the listener"},
	"allreduce/verbs: Domain.Close lock":              {ends: local, why: "the system releases memory without a peer"},
	"allreduce/verbs: Domain.Unregister lock":         {ends: local, why: "the system releases memory without a peer"},

	// Doctor and pipe.
	"allreduce/doctor: exam.accept accept":   {ends: joined, why: "end closes the listener"},
	"allreduce/doctor: exam.dial dial":       {ends: deadline, by: "Patience", shown: "no answer within %v"},
	"allreduce/doctor: exam.coordinate join": {ends: deadline, by: "Patience", shown: "no answer within %v"},
	"allreduce/doctor: exam.reach join":      {ends: deadline, by: "Patience dialsAtOnce", shown: "no answer within %v"},
	"allreduce/doctor: exam.reach send":      {ends: deadline, by: "Patience dialsAtOnce", shown: "no answer within %v"},
	"allreduce/doctor: exam.reach receive":   {ends: local, why: "it releases the place that it holds"},
	"allreduce/doctor: exam.end join":        {ends: joined, why: "the listener and all connections were closed"},
	"internal/vectorio: Input.Serve range":   {ends: joined, why: "the end of the stream closes want"},
	"internal/vectorio: Input.Serve send":    {ends: local, why: "got has room for one, and each value is requested"},
	"allreduce/pipe: stream.next select":     {ends: asked, n: 2, why: "a program of the shell decides when it writes; the context and the failure of the group end the wait"},

	// Inputs: a program or a user determines when the next line arrives.
	"feature/stream: Pass.Next select":      {ends: asked, n: 2, why: "stdin has no deadline; file systems have theirs, and the context ends it"},
	"feature/stream: Pass.send select":      {ends: joined, n: 2, why: "the end of the pass ends its context"},
	"feature/stream: Pass.retire select":    {ends: joined, why: "the end of the pass ends its context"},
	"feature/stream: worker.run select":     {ends: joined, why: "the end of the pass ends its context"},
	"feature/stream: worker.send select":    {ends: joined, why: "the end of the pass ends its context"},
	"feature/stream: writer.run select":     {ends: joined, why: "the end of the pass ends its context"},
	"feature/stream: writer.commit receive": {ends: joined, why: "the writer ends when jobs is closed"},
	"feature/stream: Pass.Close join":       {ends: joined, why: "the pass's context has ended; a reader that hangs in its input is not among them"},
	"feature/stream: Pass.Close lock":       {ends: local, why: "removes an unfinished cache; only the end of the same pass takes the lock"},
	"feature/stream: Pass.finish lock":      {ends: local, why: "commits a cache; only the end of the same pass takes the lock"},

	// Passes of several threads: a thread only computes between two of its waits.
	"learn/internal/examples: Reader.Lots receive":         {ends: local, why: "the thread of a lot only computes until the lot is done"},
	"learn/internal/examples: lots.finish receive":         {ends: local, why: "the thread of a lot only computes until the lot is done"},
	"learn/internal/examples: Lot.Done send":               {ends: local, why: "the channel has room for one, and a lot is done once"},
	"learn/internal/sgdstage: replicated.start range":      {ends: joined, why: "the end of the pass closes the channels"},
	"learn/internal/sgdstage: replicated.runAll send":      {ends: local, why: "the replica only computes, and takes what it is sent"},
	"learn/internal/sgdstage: replicated.deal send":        {ends: local, why: "the replica only computes, and takes what it is sent"},
	"learn/internal/sgdstage: replicated.end join":         {ends: joined, why: "the replicas end when the channels are closed"},
	"learn/internal/sgdstage: barrier.take join":           {ends: local, why: "all replicas get each barrier after work that only computes"},
	"learn/internal/sgdstage: Online.together range":       {ends: joined, why: "the end of the pass closes the channel"},
	"learn/internal/sgdstage: Online.together send":        {ends: local, why: "the channel has room for all lots under way"},
	"learn/internal/sgdstage: Online.together join":        {ends: joined, why: "the threads end when the channel is closed"},
	"feature/stream: input.done lock":                      {ends: local, why: "closes the input; only the end of the same pass takes the lock"},
	"feature/stream: input.end lock":                       {ends: local, why: "closes the input; only the end of the same pass takes the lock"},
	"feature/stream: textReader.give lock":                 {ends: joined, why: "hand ends with the pass; the reader that takes the lock belongs to the pass"},
	"learn/internal/batchstage: share join":                {ends: local, why: "all goroutines compute"},
	"learn/internal/batchstage: summation.addVectors join": {ends: local, why: "the goroutine computes"},
	"learn/internal/batchstage: summation.readAll join":    {ends: local, why: "the goroutine computes"},

	// File systems.
	"hdfsio: Calls.call lock":           {ends: deadline, by: "within sayHung", shown: "waiting for the file system"},
	"hdfsio: Calls.Last lock":           {ends: deadline, by: "within sayHung", shown: "waiting for the file system"},
	"hdfsio: Calls.do send":             {ends: local, n: 2, why: "the caller's goroutine receives, since the previous call has returned, or since it waits in ask"},
	"hdfsio: caller.ask select":         {ends: local, why: "do receives from asks, or closes left"},
	"hdfsio: caller.ask receive":        {ends: joined, why: "do sends the answer when it has called the function, whose own waits have rows"},
	"hdfsio: caller.run range":          {ends: joined, why: "Last closes todo, or the current call is abandoned"},
	"hdfsio: caller.run select":         {ends: local, why: "do receives from done, or closes left"},
	"hdfsio: interruptible.Close lock":  {ends: local, why: "poll holds it, and Close has closed the pipe that ends poll"},
	"hdfsio: lineCounts.before lock":    {ends: asked, why: "the file system has limits, and the context ends; callers that take the lock need the count"},
	"hdfsio/remote: dialTCP dial":       {ends: deadline, by: "dialTimeout", shown: "(tried for %v)"},
	"hdfsio/webhdfs: Client.send dial":  {ends: deadline, by: "askTimeout writeTimeout", shown: "name nodes responds"},
	"hdfsio/s3: chain.fetch dial":       {ends: short, by: "roleTimeout"},
	"hdfsio/web: Client.one dial":       {ends: deadline, by: "Transport", shown: "retrying"},
	"hdfsio/pipe: Client.run process":   {ends: deadline, by: "silent errSilent", shown: "transferred nothing for %v"},
	"hdfsio/pipe: reader.Read process":  {ends: deadline, by: "silent errSilent", shown: "transferred nothing for %v"},
	"hdfsio/pipe: reader.Close process": {ends: short, by: "WaitDelay"},

	// Launchers and commands.
	"internal/launch: supervisor.await process":    {ends: asked, why: "a worker may train for days; Grace bounds its end"},
	"internal/launch: supervisor.await receive":    {ends: asked, why: "only the reader of this process's output may take long; a signal ends the launcher nevertheless"},
	"internal/launch: supervisor.await send":       {ends: local, n: 4, why: "ended has room for one a worker, and copied for the outputs of one process; supervisor.wait receives the others"},
	"internal/launch: output.copy receive":         {ends: asked, why: "only the reader of the output of the attempt before may take long; a signal ends the launcher nevertheless"},
	"internal/launch: output.wait receive":         {ends: asked, n: 2, why: "only the reader of this process's output may take long; a signal ends the launcher nevertheless"},
	"internal/launch: outputs.start send":          {ends: local, why: "done has room for one"},
	"internal/launch: supervisor.start send":       {ends: local, why: "ended has room for one a worker, and each runs once at a time"},
	"internal/launch: supervisor.wait send":        {ends: local, why: "Kill.Killed has room for one"},
	"internal/launch: started.start lock":          {ends: local, why: "the system starts a process; kill waits for that, so that no process follows it"},
	"internal/launch: supervisor.pause send":       {ends: local, why: "due has room for one a worker, and each pauses once at a time"},
	"internal/launch: Supervised.one process":      {ends: asked, why: "a command may run for days; signals are passed on"},
	"internal/launch: Supervised.one select":       {ends: asked, why: "a command may run for days; signals are passed on"},
	"internal/launch: Supervised.one send":         {ends: local, why: "done has room for one"},
	"internal/otlp: Tracer.Span lock":              {ends: local, why: "the SDK's queue drops spans when it is full"},
	"internal/otlp: Tracer.Write lock":             {ends: local, why: "the SDK's queue drops spans when it is full"},
	"internal/otlp: upload.post dial":              {ends: short, by: "endTimeout"},
	"internal/hadoop: askRoomOf dial":              {ends: short, by: "askRoomWithin"},
	"internal/joinflags: crashSelf select":         {ends: local, why: "the process ends by the panic"},
	"internal/joinflags: killSelf select":          {ends: local, why: "the process ends by SIGKILL"},
	"internal/cli: Interruptible select":           {ends: joined, why: "it ends with the run"},
	"internal/spantree/server: StartAt send":       {ends: local, why: "served has room for one"},
	"internal/spantree/server: Local.Stop receive": {ends: joined, why: "Close has ended Serve"},
	"internal/mapper: mapTask.close join":          {ends: joined, why: "stop is closed"},
	"internal/tools: examineHere join":             {ends: deadline, by: "Patience", shown: "no answer within %v"},
	"internal/tools/jobs: followServer join":       {ends: joined, why: "its context has ended, and a read of a key ends after a tenth of a second"},
	"internal/tools/jobs: readKeys select":         {ends: asked, why: "the user ends gvw top, and so the context"},
	"internal/tools/jobs: askServer select":        {ends: asked, why: "the user ends gvw top, and so the context"},
	"internal/tools: inNamespace process":          {ends: asked, why: "a benchmark takes as long as its user asks for; WaitDelay bounds its end"},
	"internal/run: processes.run join":             {ends: joined, why: "its context has ended"},
	"internal/search: plan.runAll receive":         {ends: asked, n: 2, why: "a training takes as long as its user asks for; the context ends its process"},
	"internal/search: plan.runAll send":            {ends: local, why: "ended has room for all running jobs"},
	"internal/mapper: lineWriter.Write lock":       {ends: asked, why: "the task's JVM reads, or has died, which fails the write"},
	"internal/mapper: lineWriter.line lock":        {ends: asked, why: "the task's JVM reads, or has died, which fails the write"},
	"internal/mapper: lineWriter.flush lock":       {ends: asked, why: "the task's JVM reads, or has died, which fails the write"},
	"cmd/spanning_tree: lossyWriter.run select":    {ends: joined, why: "close ends it"},
	"cmd/spanning_tree: serve send":                {ends: local, why: "served has room for one"},
	"cmd/spanning_tree: serve receive":             {ends: joined, why: "Close has ended Serve, or it has ended by itself"},
	"cmd/spanning_tree: watch select":              {ends: asked, why: "a server runs until a signal ends it"},
	"cmd/spanning_tree: watch send":                {ends: local, why: "the value was taken from served, which has room for one"},
	"internal/background: Program.Start process":   {ends: local, why: "the child has closed the pipe, so it has ended; a child that started too slowly was killed"},

	// Servers of models.
	"internal/train: Learner.serveHTTP join":      {ends: joined, why: "the context of the watches has ended"},
	"internal/monitor/page: Page.events lock":     {ends: local, why: "a snapshot waits for no client"},
	"internal/monitor/page: Page.events select":   {ends: asked, why: "a stream ends with its request or with the page; each write has a deadline"},
	"internal/monitor/page: hub.add send":         {ends: local, why: "the new client's queue is empty"},
	"internal/monitor/site: Site.Close join":      {ends: joined, why: "the context has ended, and Until closes the connections"},
	"internal/httpserve: bounded.Accept accept":   {ends: asked, why: "a server runs until its context ends, which closes the listener"},
	"internal/httpserve: counted.Close receive":   {ends: local, why: "it gives back the place that it holds"},
	"internal/httpserve: Until receive":           {ends: asked, why: "Shutdown ends within the caller's limit"},
	"internal/httpserve: Until send":              {ends: local, why: "ended has room for one"},
	"internal/serve/daemon: Server.Serve accept":  {ends: asked, why: "a server runs until its context ends, which closes the listener"},
	"internal/serve/daemon: Server.Serve join":    {ends: joined, why: "the end of the context ends reads, and writes have deadlines"},
	"internal/serve/engine: Engine.Begin select":  {ends: local, why: "others process lines, and do not wait for clients meanwhile"},
	"internal/serve/engine: Engine.End receive":   {ends: local, why: "Begin has sent a value"},
	"internal/serve/web: collector.Collect send":  {ends: local, why: "the registry receives every metric"},
	"internal/serve/web: collector.Describe send": {ends: local, why: "the registry receives every description"},
	"internal/serve/engine: Engine.Reload lock":   {ends: asked, why: "loading a model takes the time that its file takes, in the goroutine that watches the file"},
	"internal/serve/engine: saver.begin lock":     {ends: local, why: "the lock is given back during the wait"},
	"internal/serve/engine: saver.begin cond":     {ends: local, why: "it waits for the write of a checkpoint, whose failure ends it, too"},
	"internal/serve/engine: saver.stop join":      {ends: joined, why: "quit is closed, and the write of a checkpoint ends"},
}
