// Opens the page of a CA in Chromium, and fails if it is not as it should be.
//
//   node page.mjs URL CA-FOLDER SCREENSHOTS
//
// It speaks the DevTools protocol over two pipes, file descriptors 3 and 4 of the browser.
import { spawn } from 'node:child_process';
import { X509Certificate, createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit } from 'node:process';

const [url, folder, shots] = argv.slice(2);
const WIDTHS = [400, 1600];
const PATIENCE = 60_000;

const failures = [];
function check(holds, what) {
    if (!holds) failures.push(what);
}

// The certificates of the CA's keys by their names, as they are in its folder.
const names = readdirSync(folder).filter((name) => /^(root|issuing).*\.pem$/.test(name));
const certificates = new Map(
    names.map((name) => [name.replace('.pem', ''), new X509Certificate(readFileSync(join(folder, name)))]),
);
const root = certificates.get('root');
// As Chromium names the keys of chains that it accepts: those that the server sends are compared.
const trusted = [...certificates.values()].map(({ publicKey }) => {
    return createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' })).digest('base64');
});

function fetched(address) {
    return new Promise((resolve, reject) => {
        const request = get(address, { ca: root.toString(), agent: false }, (response) => {
            const parts = [];
            response.on('data', (part) => parts.push(part));
            response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(parts) }));
        });
        request.on('error', reject);
    });
}

// The list is made after the server has started.
async function answered(address) {
    for (const begun = Date.now(); ; await new Promise((done) => setTimeout(done, 200))) {
        const answer = await fetched(address);
        if (answer.status === 200 || Date.now() - begun > PATIENCE) return answer;
    }
}

class Browser {
    constructor(profile) {
        const options = [
            '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--no-proxy-server',
            '--remote-debugging-pipe', `--user-data-dir=${profile}`, `--ignore-certificate-errors-spki-list=${trusted.join()}`,
            'about:blank',
        ];
        this.child = spawn('chromium', options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
        this.ended = new Promise((resolve) => this.child.on('exit', resolve));
        this.waiting = new Map();
        this.events = [];
        this.count = 0;
        let rest = '';
        this.child.stdio[4].setEncoding('utf8').on('data', (text) => {
            const messages = (rest + text).split('\0');
            rest = messages.pop();
            for (const message of messages) this.take(JSON.parse(message));
        });
    }

    take(message) {
        const waiting = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (!waiting) this.events.push(message);
        else if (message.error) waiting.reject(new Error(message.error.message));
        else waiting.resolve(message.result);
    }

    send(method, params = {}) {
        const id = ++this.count;
        this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
        return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    }

    async open() {
        const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
        const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
        this.session = sessionId;
        for (const part of ['Page', 'Log', 'Runtime', 'Network']) await this.send(`${part}.enable`);
    }

    async close() {
        this.session = undefined;
        await this.send('Browser.close');
        await this.ended;
    }

    async show(address, width) {
        const size = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
        await this.send('Emulation.setDeviceMetricsOverride', size);
        this.events = [];
        const { errorText } = await this.send('Page.navigate', { url: address });
        if (errorText) throw new Error(`${address}: ${errorText}`);
        while (!this.events.some((event) => event.method === 'Page.loadEventFired')) {
            await new Promise((done) => setTimeout(done, 50));
        }
        await new Promise((done) => setTimeout(done, 500));
    }

    async value(expression) {
        const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true });
        if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
        return result.value;
    }

    // What the console shows, and requests that failed.
    complaints() {
        const said = { 'Log.entryAdded': 'entry', 'Runtime.consoleAPICalled': 'args', 'Runtime.exceptionThrown': 'exceptionDetails' };
        const shown = this.events.filter((event) => event.method in said);
        const failed = this.events.filter((event) => event.method === 'Network.loadingFailed');
        const refused = this.events.filter((event) => event.params?.response?.status >= 400);
        return [...shown, ...failed, ...refused].map((event) => JSON.stringify(event.params));
    }
}

// What is wider than its place.
const TOO_WIDE = `[...document.querySelectorAll('body, body *')].filter((element) => {
    const right = element.getBoundingClientRect().right;
    const isInline = getComputedStyle(element).display === 'inline';
    return right > document.documentElement.clientWidth || (!isInline && element.scrollWidth > element.clientWidth);
}).map((element) => element.outerHTML.slice(0, 100))`;
const PAGE = `({
    title: document.title,
    width: [document.documentElement.scrollWidth, document.documentElement.clientWidth],
    tooWide: ${TOO_WIDE},
    links: [...document.links].map((link) => link.href),
    text: document.body.innerText,
    scripts: document.scripts.length,
    commands: [...document.querySelectorAll('pre')].length,
})`;

async function main(browser) {
    await browser.open();
    for (const width of WIDTHS) {
        await browser.show(`${url}/`, width);
        for (const complaint of browser.complaints()) check(false, `${width}: ${complaint}`);
        const page = await browser.value(PAGE);
        const shot = await browser.send('Page.captureScreenshot', { captureBeyondViewport: true });
        writeFileSync(`${shots}-${width}.png`, Buffer.from(shot.data, 'base64'));
        check(page.title.includes('Example CA'), `the title is ${page.title}`);
        check(page.width[0] <= page.width[1], `${width}: the page is ${page.width[0]} wide`);
        for (const element of page.tooWide) check(false, `${width}: too wide: ${element}`);
        check(page.text.includes('/acme/directory'), `${width}: the page has no ACME`);
        check(page.scripts === 0 && page.commands > 0, `${width}: scripts, or no commands`);
        const text = page.text.replace(/\s/g, '');
        const shown = text.match(/(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/g) ?? [];
        const expected = [...certificates.values()].map((one) => one.fingerprint256);
        check(shown.sort().join() === expected.sort().join(), `${width}: fingerprints: ${shown}`);
        if (width !== WIDTHS[0]) continue;
        check(page.links.length >= 3 * certificates.size - 1, `links: ${page.links}`);
        for (const link of page.links) {
            const answer = await answered(link);
            check(answer.status === 200 && answer.body.length > 0, `${link}: ${answer.status}`);
            const name = /certificates\/(.*)\.(pem|crt)$/.exec(link)?.[1];
            if (name && answer.status === 200) {
                const served = new X509Certificate(answer.body).fingerprint256;
                check(served === certificates.get(name)?.fingerprint256, `${link} is another certificate`);
            }
        }
    }
}

const profile = mkdtempSync(join(tmpdir(), 'page-'));
const browser = new Browser(profile);
const timer = setTimeout(() => {
    console.error('the browser does not answer');
    browser.child.kill('SIGKILL');
    exit(1);
}, 4 * PATIENCE);
try {
    await main(browser);
} finally {
    await browser.close();
    clearTimeout(timer);
    // Processes of the browser may outlive the first by a moment.
    rmSync(profile, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
}
for (const failure of failures) console.error(failure);
if (failures.length) exit(1);
console.log(`${url}/ is as it should be, ${WIDTHS.join(' and ')} pixels wide, with ${certificates.size} certificates`);
