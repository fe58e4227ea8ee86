/* SPDX-License-Identifier: MIT */
/* A dense switch, a sparse one, and a small machine of both; for a table see branches.hand.ptx. */

KERNEL(switches)
{
    ELEMENT
    u32 a = WORD(0), b = WORD(1), r = 0;

    switch (a % 12) {
    case 0:
        r = b + 1;
        break;
    case 1:
        r = b * 3;
        break;
    case 2:
        r = b ^ 0x5555;
        break;
    case 3:
        r = b >> 3; /* fall through */
    case 4:
        r += 17;
        break;
    case 5:
        r = ~b;
        break;
    case 6:
        r = b % 101;
        break;
    case 7:
        r = b & a;
        break;
    case 8:
        r = b - a; /* fall through */
    case 9:
        r = r * r;
        break;
    case 10:
        r = b << (a & 7);
        break;
    default:
        r = 99;
        break;
    }
    PUT(r);
    switch (b & 0xfff) {
    case 0:
        r = 1;
        break;
    case 1:
        r = 2;
        break;
    case 0xfff:
        r = 3;
        break;
    case 0x800:
        r = 4;
        break;
    default:
        r = 5;
        break;
    }
    PUT(r);
    r = 0;
    for (u32 pc = 0, steps = 0; pc != 8 && steps < 40; steps++) {
        switch (pc) {
        case 0:
            r += a & 7;
            pc = 1;
            break;
        case 1:
            r ^= b;
            pc = r & 1 ? 3 : 2;
            break;
        case 2:
            r = r * 5 + 1;
            pc = 4;
            break;
        case 3:
            r -= 77;
            pc = r & 2 ? 5 : 2;
            break;
        case 4:
            pc = r % 7 == 0 ? 8 : 5;
            break;
        case 5:
            r = (r << 3) | (r >> 29);
            pc = 6;
            break;
        case 6:
            b += r;
            pc = b & 4 ? 7 : 0;
            break;
        default:
            r++;
            pc = 1;
            break;
        }
    }
    PUT(r);
    PUT(b);
}
