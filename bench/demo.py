# demo.py: a few seconds of usual Python work: objects, dicts, sorting, regular
# expressions, JSON. The demo and the benchmarks record Debian's python3 on it.
import json
import random
import re
import sys

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10


class Order:
    def __init__(self, number, customer, lines):
        self.number = number
        self.customer = customer
        self.lines = lines

    def total(self):
        return sum(price * count for price, count in self.lines)


def make_orders(random_source, count):
    return [
        Order(
            number,
            f"customer-{random_source.randrange(500)}",
            [
                (random_source.random() * 100, random_source.randrange(1, 9))
                for _ in range(random_source.randrange(1, 6))
            ],
        )
        for number in range(count)
    ]


def sum_by_customer(orders):
    sums = {}
    for order in orders:
        sums[order.customer] = sums.get(order.customer, 0) + order.total()
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def words(text):
    return re.findall(r"[a-z]+-\d+|[\d.]+", text)


def one_round(seed):
    orders = make_orders(random.Random(seed), 20000)
    top = sum_by_customer(orders)
    text = json.dumps([vars(order) for order in orders])
    again = json.loads(text)
    return len(top), len(words(text)), len(again)


for seed in range(rounds):
    print(*one_round(seed))
